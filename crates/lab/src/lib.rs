//! Where the model and the emulated machine meet: measurements, validations, studies.
//!
//! [`measure`] takes on the emulated machine the measurements that a user would take on a real one, and
//! writes the same files; [`schedulers`] knows every scheduler by its name; [`validate`] sets predictions
//! beside what ran. The emulated machine holds no term of the model and the model knows nothing of the
//! machine, so that their agreement means something.

pub mod measure;
pub mod schedulers;
pub mod validate;
