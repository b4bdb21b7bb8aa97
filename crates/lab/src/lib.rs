//! Where the model and the emulated machine meet: measurements, validations, studies.
//!
//! [`measure`] takes on the emulated machine the measurements that a user would take on a real one, and
//! writes the same files; [`schedulers`] knows every scheduler by its name; [`validate`] sets predictions
//! beside what ran, over any [`space`]; a [`study`] does all of it in a folder that is whole or as it
//! was ([`transaction`]). The emulated machine holds no term of the model and the model knows nothing of
//! the machine, so that their agreement means something.
//!
//! Nothing here prints or knows flags: how far work is goes to an [`Observer`].

mod identity;
pub mod measure;
mod observer;
pub mod schedulers;
pub mod space;
pub mod study;
pub mod transaction;
pub mod validate;

pub use identity::{Identity, typed};
pub use observer::{Observer, Step};
