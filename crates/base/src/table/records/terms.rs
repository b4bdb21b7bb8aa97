//! Rows of where the time of a traced run went, in the model's terms.

use super::Maybe;
use crate::error::Result;
use crate::table::csv::{Record, Row};

/// The terms of `terms.csv`, each with its unit: `s`, `B` (bytes), or `1` (a count). All but `g` and
/// `o_col` are totals of a run, or of a phase of it.
pub const TERMS: [(&str, &str); 18] = [
    // The run, on that rank, from its start (of MPI) to its end.
    ("time", "s"),
    // The rank's own host code, outside regions and MPI.
    ("t_hpu", "s"),
    // Off-loads (regions) entered.
    ("offloads", "1"),
    // Work in regions, summed over threads.
    ("t_apu", "s"),
    // Work of the slowest thread beyond the mean of all p, summed over regions.
    ("c_apu", "s"),
    // From the fork until the first thread begins, summed over regions.
    ("o_offload", "s"),
    // Time of the regions without the work of their slowest threads; contains `o_offload`.
    ("gap", "s"),
    // Calls of a collective of MPI, and what they carry.
    ("collectives", "1"),
    ("bytes", "B"),
    // Time in collectives of the last rank to arrive, and of a rank beyond that.
    ("t_col", "s"),
    ("wait", "s"),
    // Messages point to point, and the time in them.
    ("messages", "1"),
    ("p2p", "s"),
    // CPU time, and involuntary context switches.
    ("cpu", "s"),
    ("switches", "1"),
    // Processors of all computers that the run was on.
    ("processors", "1"),
    // One empty region on p threads, and one collective on m ranks (its phase names the operation):
    // each timed by itself.
    ("g", "s"),
    ("o_col", "s"),
];

record! {
    /// A row of `terms.csv`: what one term of the model was in a traced run.
    TermRow by (run: String, m: u32, p: u32, rank: Maybe<u32>, phase: String, term: String) {
        /// Name or number of the run.
        run: String = word(),
        /// Ranks.
        m: u32 = count(1),
        /// Threads, or devices, of each.
        p: u32 = count(1),
        /// Which rank, from 0; empty of what holds of each, or is a mean over them.
        rank: Maybe<u32> = maybe_rank(),
        /// Region, off-loaded function or operation of MPI; empty of all of the run.
        phase: String = phrase(),
        /// One of [`TERMS`].
        term: String = term(),
        /// What it was, in `unit`.
        value: f64 = amount(),
        /// Its standard error, in `unit`; empty where not known.
        std_error: Maybe = maybe_amount(),
        /// The term's unit.
        unit: String = unit_of_term(),
    }
}

impl Row<'_> {
    /// A rank below the row's m, or nothing.
    fn maybe_rank(&self, column: usize) -> Result<Maybe<u32>> {
        let is_known = !self.text(column).is_empty();
        let rank = is_known.then(|| self.count(column, 0)).transpose()?;
        let ranks = self.text_of("m").parse::<u32>().unwrap_or(0);
        match rank {
            Some(rank) if rank >= ranks => {
                Err(self.field_error(column, &format!("a rank below m = {ranks}")))
            }
            rank => Ok(Maybe(rank)),
        }
    }

    /// A name of [`TERMS`].
    fn term(&self, column: usize) -> Result<String> {
        let names = TERMS.map(|(name, _)| name);
        match names.iter().find(|name| **name == self.text(column)) {
            Some(name) => Ok((*name).to_string()),
            None => Err(self.field_error(column, &format!("one of {}", names.join(", ")))),
        }
    }

    /// The unit that [`TERMS`] gives the row's term.
    fn unit_of_term(&self, column: usize) -> Result<String> {
        let (term, found) = (self.text_of("term"), self.text(column));
        match TERMS.iter().find(|(name, _)| *name == term) {
            Some((_, unit)) if *unit != found => {
                Err(self.field_error(column, &format!("{unit:?}, the unit of {term}")))
            }
            _ => Ok(found.to_string()),
        }
    }

    /// A finite number of zero or more, or nothing.
    fn maybe_amount(&self, column: usize) -> Result<Maybe> {
        let is_known = !self.text(column).is_empty();
        Ok(Maybe(is_known.then(|| self.amount(column)).transpose()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Source;
    use crate::table::csv::{read, write};

    const HEADER: &str = "run,m,p,rank,phase,term,value,std_error,unit\n";

    fn check(row: &str, message: &str) {
        let source = Source::new("terms.csv", &format!("{HEADER}{row}\n"));
        let error = read::<TermRow>(&source).expect_err("must be refused").to_string();
        assert!(error.starts_with(&format!("terms.csv:2:{message}")), "{error}");
    }

    #[test]
    fn what_is_not_known_is_an_empty_cell() {
        let text = format!(
            "{HEADER}a,2,4,1,force,t_apu,1.5,0.25,s\na,2,4,,,time,3,,s\na,2,4,,allreduce,bytes,64,,B\n"
        );
        let (rows, warnings) = read::<TermRow>(&Source::new("terms.csv", &text)).unwrap();
        assert_eq!((rows[0].rank, rows[0].std_error), (Maybe(Some(1)), Maybe(Some(0.25))));
        assert_eq!((rows[1].rank, rows[1].std_error), (Maybe(None), Maybe(None)));
        assert_eq!((write(&rows), warnings), (text, vec![]));
    }

    #[test]
    fn a_row_that_contradicts_itself_is_refused() {
        check(
            "a,2,4,2,,time,3,,s",
            "7: found \"2\" in column \"rank\", expected a rank below m = 2",
        );
        check(
            "a,2,4,,,t_cpu,3,,s",
            "9: found \"t_cpu\" in column \"term\", expected one of time, ",
        );
        check(
            "a,2,4,,,time,3,,ms",
            "17: found \"ms\" in column \"unit\", expected \"s\", the unit",
        );
        check(
            "a,2,4,,,time,-3,,s",
            "14: found \"-3\" in column \"value\", expected a finite number",
        );
        check(
            "a,2,4,,,time,3,nan,s",
            "16: found \"nan\" in column \"std_error\", expected a finite",
        );
        check(
            "a,0,4,,,time,3,,s",
            "3: found \"0\" in column \"m\", expected a whole number from 1",
        );
        let row = "a,2,4,,,time,3,,s";
        let twice = Source::new("terms.csv", &format!("{HEADER}{row}\n{row}\n"));
        let error = read::<TermRow>(&twice).unwrap_err().to_string();
        assert!(
            error.starts_with("terms.csv:3:1: found a second row for run = a, m = 2"),
            "{error}"
        );
    }
}
