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

/// The table of attempts; further factors and what was captured are columns by their names. A warm-up,
/// repetition 0, does not count. What stands for the time of a rate or an amount is none.
fn sheet(mut records: Records<'_>) -> Result<Sheet<'_>> {
    records.without("env.");
    records.without("limit_s");
    if records.has("rate_unit") || records.has("amount_unit") {
        records.without("time_s");
    }
    records.rename("order", "seq");
    records.rename_inner("params.");
    records.rename_inner("captured.");
    records.leave_out("repetition", "0");
    Ok(records.sheet("log of mmgp"))
}
