//! The interface for programs in C (`include/mmgp.h`): load parameters, predict the time of one
//! (m, p), choose the best one, learn from a run.
//!
//! The header is the documentation for who calls; this is what holds inside:
//!
//! * Every function catches a panic and answers [`BUG`]: none crosses into C.
//! * Nothing is allocated but by the two functions that load and where samples are learnt. A message goes into a buffer that each
//!   thread has from its start.
//! * What is predicted from is published in two copies by turns (`capi/publication.rs`), all of it
//!   atomics, so that a reader neither waits for a writer nor sees half of a sample.
//!
//! This file and `capi/pool.rs`, the pool of APUs, are the only ones of the interface that are `unsafe`:
//! they turn pointers of C into references, under the conditions that the header asks for and that
//! stand beside each place.
//!
//! The library that C links is a target of its own, `include/mmgp.rs`:
//! `cargo build --release --example mmgp`.

#![allow(unsafe_code)] // Pointers come from C.

mod message;
mod misfit;
mod pool;
mod publication;
mod shared;

/// What `capi/publication.rs` is made of; `tests/loom` has others of the same names.
mod sync {
    pub use std::hint::spin_loop;
    pub use std::sync::Mutex;
    pub use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
}

use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::error::{Error, Result};
use crate::fit::online::{Beforehand, MOST_THREADS, Online};
use crate::models::{Parameters, published, published_names};
use crate::table::Source;
use misfit::Misfit;
pub use pool::*;
use shared::{Choice, Prediction, Refusal};
pub use shared::{Limits, Model};

/// What every function but the plain ones returns; the numbers are part of the interface.
type Status = c_int;

/// Done.
pub const OK: Status = 0;
/// A null pointer, a text that is not UTF-8, or a number outside its range.
pub const BAD_ARGUMENT: Status = 1;
/// A text that is not a set of parameters.
pub const BAD_INPUT: Status = 2;
/// A file that cannot be read.
pub const CANNOT_READ: Status = 3;
/// More APUs than there are, or more host threads than the model was loaded for.
pub const INFEASIBLE: Status = 4;
/// A run, but nothing that could learn from it.
pub const NOTHING_TO_LEARN: Status = 5;
/// A mistake in this library.
pub const BUG: Status = 6;

/// `mmgp_options`. Fields may be added at the end, where 0 means what was so without, and none may
/// leave bytes between them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Bytes of this structure as the caller knows it.
    pub size: u32,
    /// The most host threads that will be asked for; 0 for as many as there are APUs.
    pub max_m: u32,
    /// See [`Beforehand::noise`]; 0 for 0.02.
    pub noise: f64,
    /// See [`Beforehand::unknown_error`].
    pub unknown_error: f64,
}

impl Options {
    /// Bytes of the first version that had a size.
    const FIRST_SIZE: usize = 24;
    /// The most bytes of any version.
    const MOST_SIZE: usize = 4096;
    /// What a null pointer means.
    const USUAL: Self =
        Self { size: size_of::<Self>() as u32, max_m: 0, noise: 0.0, unknown_error: 0.0 };

    /// The options of a caller whose header may be earlier or later than this library.
    ///
    /// # Safety
    /// Null, or options that have as many bytes as they say.
    unsafe fn read(pointer: *const Self) -> std::result::Result<Self, Failure> {
        let mut options = Self::USUAL;
        if pointer.is_null() {
            return Ok(options);
        }
        // SAFETY: the size is the first field in every version.
        let size = unsafe { pointer.cast::<u32>().read() } as usize;
        if !(Self::FIRST_SIZE..=Self::MOST_SIZE).contains(&size) {
            let known = size_of::<Self>();
            let text = format_args!("the options have a size of {size}, expected {known}");
            return Err(failed(BAD_ARGUMENT, text));
        }
        // SAFETY: by the condition above; where C leaves bytes between fields, they are beyond ours.
        let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) };
        let (known, unknown) = bytes.split_at(size.min(size_of::<Self>()));
        if unknown.iter().any(|&byte| byte != 0) {
            let text = format_args!("the options set what this version does not know");
            return Err(failed(BAD_ARGUMENT, text));
        }
        // SAFETY: `options` has these bytes, all of numbers; what an earlier caller lacks stays 0.
        unsafe {
            std::ptr::from_mut(&mut options).cast::<u8>().copy_from(known.as_ptr(), known.len())
        };
        Ok(options)
    }
}

/// Why a call failed, its message being written already.
struct Failure(Status);

/// Writes the message and gives the status.
fn failed(status: Status, text: std::fmt::Arguments<'_>) -> Failure {
    message::write(text);
    Failure(status)
}

/// The status of what `body` does; a panic ends here.
#[inline]
fn guarded(body: impl FnOnce() -> std::result::Result<(), Failure>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => OK,
        Ok(Err(Failure(status))) => status,
        Err(_) => failed(BUG, format_args!("a mistake in mmgp; please report it")).0,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Read { .. } | Error::UnknownName { .. } => CANNOT_READ,
            Error::Input { .. } => BAD_INPUT,
            _ => BAD_ARGUMENT,
        };
        failed(status, format_args!("{error}"))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal {
            Refusal::Zero | Refusal::Time(_) => BAD_ARGUMENT,
            Refusal::TooManyThreads { .. } | Refusal::TooManyApus { .. } => INFEASIBLE,
            Refusal::NothingToLearn => NOTHING_TO_LEARN,
        };
        failed(status, format_args!("{refusal}"))
    }
}

/// The reference behind a pointer of C.
///
/// # Safety
/// Null, or a value that nobody changes while the reference lives.
#[inline]
unsafe fn reference<'a, T>(pointer: *const T, name: &str) -> std::result::Result<&'a T, Failure> {
    // SAFETY: passed on to the caller.
    match unsafe { pointer.as_ref() } {
        Some(reference) => Ok(reference),
        None => Err(failed(BAD_ARGUMENT, format_args!("{name} is null"))),
    }
}

/// Stores a result where C wants it.
///
/// # Safety
/// Null, or memory of that type that only this call writes.
#[inline]
unsafe fn store<T>(pointer: *mut T, name: &str, value: T) -> std::result::Result<(), Failure> {
    if pointer.is_null() {
        return Err(failed(BAD_ARGUMENT, format_args!("{name} is null")));
    }
    // SAFETY: not null, and the caller's to be written; it holds plain numbers, nothing to drop.
    unsafe { pointer.write(value) };
    Ok(())
}

/// `mmgp_load_text`: parameters from `length` bytes of TOML.
///
/// # Safety
/// `text` has `length` bytes; `options` is null or has its size; `model` has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_load_text(
    text: *const c_char,
    length: usize,
    options: *const Options,
    model: *mut *mut Model,
) -> Status {
    guarded(|| {
        // SAFETY: by the conditions above; a null text is refused before it is looked at.
        unsafe {
            reference(text, "text")?;
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length);
            let Ok(text) = std::str::from_utf8(bytes) else {
                return Err(failed(BAD_INPUT, format_args!("the text is not UTF-8")));
            };
            load(Parameters::read(&Source::new("parameters", text)), Options::read(options)?, model)
        }
    })
}

/// `mmgp_load`: parameters from a TOML file, or a set that is built in.
///
/// # Safety
/// `name` ends with a zero; `options` is null or has its size; `model` has room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_load(
    name: *const c_char,
    options: *const Options,
    model: *mut *mut Model,
) -> Status {
    guarded(|| {
        // SAFETY: by the conditions above; a null name is refused before it is looked at.
        unsafe {
            reference(name, "name")?;
            let Ok(name) = CStr::from_ptr(name).to_str() else {
                return Err(failed(BAD_ARGUMENT, format_args!("the name is not UTF-8")));
            };
            load(by_name(name), Options::read(options)?, model)
        }
    })
}

fn by_name(name: &str) -> Result<Parameters> {
    if published_names().any(|known| known == name) {
        return published(name);
    }
    Parameters::read(&Source::read(Path::new(name))?)
}

/// # Safety
/// `model` is null or has room for a pointer.
unsafe fn load(
    parameters: Result<Parameters>,
    options: Options,
    model: *mut *mut Model,
) -> std::result::Result<(), Failure> {
    if model.is_null() {
        return Err(failed(BAD_ARGUMENT, format_args!("model is null")));
    }
    let parameters = parameters?;
    let noise = if options.noise == 0.0 { 0.02 } else { options.noise };
    let beforehand = Beforehand { noise, unknown_error: options.unknown_error };
    let apus = parameters.apus;
    let unit = parameters.quantity.unit_of_terms().map(CString::new).transpose();
    let has_zero = |_| failed(BAD_INPUT, format_args!("the unit of the runs has a zero inside"));
    let unit = unit.map_err(has_zero)?;
    let last_m = if options.max_m == 0 { apus.min(MOST_THREADS) } else { options.max_m.min(apus) };
    let online = Online::new(&parameters, beforehand, last_m)?;
    let misfit = Misfit::of(&parameters, last_m)?;
    let loaded = Box::into_raw(Box::new(Model::new((apus, unit), online, misfit)));
    // SAFETY: not null, and the caller's to be written.
    unsafe { store(model, "model", loaded) }
}

/// `mmgp_free`: gives back a model; null is none.
///
/// # Safety
/// `model` comes from a function that loads, was not given back, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_free(model: *mut Model) {
    if !model.is_null() {
        // Nothing in a model panics when it is dropped.
        // SAFETY: it was made by `Box::into_raw`, and by the conditions above it is nobody else's.
        drop(unsafe { Box::from_raw(model) });
    }
}

/// `mmgp_time`: the predicted time of a run at (m, p).
///
/// # Safety
/// `model` is null or loaded; `time_s` is null or has room for a double.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_time(
    model: *const Model,
    m: u32,
    p: u32,
    time_s: *mut f64,
) -> Status {
    // SAFETY: by the conditions above; a model changes by atomics and a lock only.
    guarded(|| unsafe { store(time_s, "time_s", reference(model, "model")?.time(m, p)?) })
}

/// `mmgp_predict`: that time with its 95 % interval.
///
/// # Safety
/// `model` is null or loaded; `prediction` is null or has room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_predict(
    model: *const Model,
    m: u32,
    p: u32,
    prediction: *mut Prediction,
) -> Status {
    // SAFETY: as in `mmgp_time`.
    guarded(|| unsafe {
        store(prediction, "prediction", reference(model, "model")?.predict(m, p)?)
    })
}

/// `mmgp_best`: the (m, p) with the least predicted time within limits.
///
/// # Safety
/// `model` is null or loaded; `limits` is null or some; `choice` is null or has room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_best(
    model: *const Model,
    limits: *const Limits,
    choice: *mut Choice,
) -> Status {
    // SAFETY: as in `mmgp_time`.
    guarded(|| unsafe {
        let limits = limits.as_ref().copied().unwrap_or_default();
        store(choice, "choice", reference(model, "model")?.best(limits))
    })
}

/// `mmgp_add_sample`: learns from a run; `surprise` may be null.
///
/// # Safety
/// `model` is null or loaded; `surprise` is null or has room for a double.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_add_sample(
    model: *const Model,
    m: u32,
    p: u32,
    time_s: f64,
    surprise: *mut f64,
) -> Status {
    // SAFETY: as in `mmgp_time`.
    guarded(|| unsafe {
        let found = reference(model, "model")?.learn(m, p, time_s)?;
        if surprise.is_null() { Ok(()) } else { store(surprise, "surprise", found) }
    })
}

/// `mmgp_apus`: APUs of the parameters; 0 for a null model.
///
/// # Safety
/// `model` is null or loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_apus(model: *const Model) -> u32 {
    // SAFETY: by the condition above.
    unsafe { model.as_ref() }.map_or(0, Model::apus)
}

/// `mmgp_unit`: the unit of all times; null of seconds, and of a null model.
///
/// # Safety
/// `model` is null or loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_unit(model: *const Model) -> *const c_char {
    // SAFETY: by the condition above.
    let unit = unsafe { model.as_ref() }.and_then(Model::unit);
    unit.map_or(std::ptr::null(), CStr::as_ptr)
}

/// `mmgp_samples`: how many runs the model has learnt from; 0 for a null model.
///
/// # Safety
/// `model` is null or loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmgp_samples(model: *const Model) -> u64 {
    // SAFETY: by the condition above.
    unsafe { model.as_ref() }.map_or(0, Model::samples)
}

/// `mmgp_message`: what went wrong in the last call of this thread that failed; empty before.
#[unsafe(no_mangle)]
pub extern "C" fn mmgp_message() -> *const c_char {
    message::pointer()
}

/// `mmgp_version`: the version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn mmgp_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests;
