//! The `log.jsonl` that `mmgp tune` keeps: a row for each attempt that is no warm-up.

use mmgp_base::error::Result;

use super::RecordFormat;
use super::records::Records;
use crate::sheet::Sheet;

/// An attempt in each line ([`mmgp_base::attempt::Attempt`]).
pub(super) const LINES: RecordFormat = RecordFormat {
    recognises: |line| {
        ["id", "m", "p", "repetition", "status"].iter().all(|key| line.any(key).is_some())
    },
    sheet,
};

/// The table of attempts; further factors are columns by their names. A warm-up, repetition 0, does not
/// count. Where rates were printed, the time is none.
fn sheet(mut records: Records<'_>) -> Result<Sheet<'_>> {
    records.rename_inner("params.");
    records.leave_out("repetition", "0");
    if records.has("rate_unit") {
        records.rename("time_s", "inverse of the rate");
    }
    Ok(records.sheet("log of mmgp"))
}
