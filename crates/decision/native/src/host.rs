//! What this computer is and has.

use std::path::Path;

use mmgp_base::table::{self, Source};

#[cfg(unix)]
pub use crate::pin::processors;

/// The name.
#[cfg(unix)]
pub fn name() -> String {
    nix::unistd::gethostname().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Processes that ran or waited for a processor, the mean of the last minute; `None` where the
/// operating system does not tell.
pub fn load() -> Option<f64> {
    let text = Source::read(Path::new("/proc/loadavg")).ok()?.text;
    text.split_whitespace().next()?.parse().ok()
}

/// Processors that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// GPUs that this process may use: those that the environment names (`CUDA_VISIBLE_DEVICES`,
/// `ROCR_VISIBLE_DEVICES`), or else those whose device files are there.
pub fn gpus() -> usize {
    let named = ["CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"];
    if let Some(list) = named.into_iter().find_map(|name| std::env::var(name).ok()) {
        let is_one = |it: &&str| !it.trim().is_empty() && it.trim() != "-1" && *it != "NoDevFiles";
        return list.split(',').filter(is_one).count();
    }
    let count = |folder: &str, beginning: &str| {
        let is_one = |name: &String| {
            let number = name.strip_prefix(beginning).unwrap_or("");
            !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit())
        };
        table::names_in(Path::new(folder)).iter().filter(|name| is_one(name)).count()
    };
    match count("/dev", "nvidia") {
        // AMD's and Intel's, with what draws the screen among them.
        0 => count("/dev/dri", "renderD"),
        found => found,
    }
}
