//! The files that a fit writes.

use std::path::PathBuf;

use super::Arguments;

/// The files that a fit writes.
pub(super) struct Files {
    pub out: Option<PathBuf>,
    pub report: Option<PathBuf>,
    pub refined_out: Option<PathBuf>,
}

impl Files {
    /// As the flags say.
    pub fn of(arguments: &Arguments) -> Self {
        let Arguments { out, report, counts, .. } = arguments;
        let refined_out = counts.refined_out.clone();
        Self { out: out.clone(), report: report.clone(), refined_out }
    }

    /// Those of the rows with that value: `p.toml` is `p-N-1000.toml`.
    pub fn by(self, column: &str, value: &str) -> Self {
        let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '-' | '+');
        let plain = |text: &str| text.replace(|it: char| !is_plain(it), "_");
        let suffix = format!("-{}-{}", plain(column), plain(value));
        let named = |path: PathBuf| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let end = path.extension().map(|it| format!(".{}", it.to_string_lossy()));
            path.with_file_name(format!("{stem}{suffix}{}", end.unwrap_or_default()))
        };
        let Self { out, report, refined_out } = self;
        let refined_out = refined_out.map(named);
        Self { out: out.map(named), report: report.map(named), refined_out }
    }
}
