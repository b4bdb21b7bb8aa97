//! What is counted on everywhere on the model's side, and knows nothing of it: means of repetitions, least
//! squares, quantiles, the normal distribution, and a Gaussian process given observations.

mod gaussian_process;
mod least_squares;
mod mean;
mod normal;
mod quantiles;

pub(crate) use gaussian_process::{Given, kernel, log_root};
pub(crate) use least_squares::Design;
pub(crate) use mean::Mean;
pub(crate) use normal::{above, below, beyond, density, deviate, quantile};
pub(crate) use quantiles::{least_of_most, log_sum, place_of_most, weighted_median};
pub use quantiles::{median, quantile_97_5};
