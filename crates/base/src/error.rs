//! One error for the whole library, and doubts that travel beside a result as [`Warning`]s.

use std::fmt;
use std::path::PathBuf;

/// What every fallible function of the library returns.
pub type Result<T> = std::result::Result<T, Error>;

/// A place in an input file, as editors and compilers write it: `runs.csv:3:7`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The file's name as the user gave it.
    pub file: String,
    /// Line, counted from 1; comment lines count.
    pub line: u64,
    /// Column in characters, counted from 1.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why something could not be done, and what the user can do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file's text is not what its format asks for. Mend the file at that place.
    #[error("{at}: found {found}, expected {expected}")]
    Input {
        /// Where it stands.
        at: Position,
        /// What stands there.
        found: String,
        /// What would have been right.
        expected: String,
    },
    /// A file could not be read. Check the path and its permissions.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A file or folder could not be written. Check the path, its permissions and the disk.
    #[error("cannot write {}: {source}", file.display())]
    Write {
        /// The file or folder.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A name that is neither built in nor a file. Use one of the known ones or give a path.
    #[error("there is no {kind} {name:?}{}", alternatives(name, known))]
    UnknownName {
        /// What sort of thing was looked for: `machine`, `parameter set`...
        kind: &'static str,
        /// The name as given.
        name: String,
        /// All names that would have been right.
        known: Vec<String>,
    },
    /// A configuration that the machine cannot hold. Choose a smaller `m` or `p`.
    #[error("m = {m}, p = {p} needs {} APUs, but there are {apus}", u64::from(*m) * u64::from(*p))]
    Infeasible {
        /// Host threads.
        m: u32,
        /// APUs for each of them.
        p: u32,
        /// APUs available.
        apus: u32,
    },
    /// Constraints that no configuration meets together. Relax one of those named.
    #[error(
        "no (m, p) of {apus} APUs meets {}{}; relax {}",
        named(constraints),
        if constraints.len() > 1 { " together" } else { "" },
        if constraints.len() > 1 { "one of them" } else { "it" }
    )]
    NothingFeasible {
        /// APUs available.
        apus: u32,
        /// Names and values, of which none can be left out without something being feasible.
        constraints: Vec<(&'static str, u32)>,
    },
    /// A value outside its range. The message says what is allowed.
    #[error("{name}: found {found}, expected {expected}")]
    OutOfRange {
        /// The field or quantity.
        name: &'static str,
        /// What was given.
        found: String,
        /// What is allowed.
        expected: String,
    },
    /// The data cannot answer the question. Measure what the message asks for.
    #[error("{file}: {found}; {advice}")]
    TooLittleData {
        /// The file or files the data came from.
        file: String,
        /// What the data hold.
        found: String,
        /// What to measure so that the question has an answer.
        advice: String,
    },
    /// A DMA command that breaks a rule of the hardware, which raises a bus error there. This is a
    /// bug in the emulated program.
    #[error("SPE {spe}: {command}: {rule}")]
    Dma {
        /// The SPE that issued it.
        spe: u32,
        /// The command, its addresses and size.
        command: String,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// Code and data that an emulated program needs at once do not fit the local store.
    #[error("the local store has {available} bytes, but {what} needs {needed}")]
    LocalStoreFull {
        /// What does not fit, with its parts.
        what: String,
        /// Bytes it needs, code included.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
    /// A simulation in which nobody can go on. This is a bug in the simulated program.
    #[error("deadlock at {at}: {}", blocked.join("; "))]
    Deadlock {
        /// Virtual time at which the calendar ran empty.
        at: crate::units::SimTime,
        /// Each blocked process and what it waits for: `spe 3 waits for off-load flag`.
        blocked: Vec<String>,
    },
    /// A picture could not be drawn.
    #[error("cannot draw the plot: {0}")]
    Plot(String),
    /// A numerical method did not end well.
    #[error("the fit did not converge: {0}")]
    Fit(String),
    /// The user interrupted the program.
    #[error("interrupted")]
    Interrupted,
    /// The data of a kernel do not lie in local store as they must. Move or shrink the block.
    #[error("{kernel}: {block} at {address:#07x}, {bytes} bytes: {rule}")]
    LocalStore {
        /// The kernel.
        kernel: &'static str,
        /// The kernel's field.
        block: &'static str,
        /// Where it begins.
        address: u32,
        /// Its size in bytes.
        bytes: u64,
        /// The rule that it breaks.
        rule: String,
    },
    /// A program touches data that a DMA command may still move. Wait for its tag group first, or
    /// order the two commands by a fence or a barrier.
    #[error(
        "SPE {spe}: {access} {touch} {space} {first:#x} to {last:#x}, but tag {tag} has not been \
         waited for since: {pending}"
    )]
    Hazard {
        /// The SPE.
        spe: u32,
        /// The kernel or the command.
        access: String,
        /// `reads` or `writes`.
        touch: &'static str,
        /// Where the addresses are: `local store` or `effective address`.
        space: &'static str,
        /// The first byte that both touch.
        first: u64,
        /// The last byte in a row that both touch.
        last: u64,
        /// The command that may still move them.
        pending: String,
        /// Its tag group.
        tag: u8,
    },
    /// A call of MPI that breaks a rule, which ends the program. This is a bug in the emulated
    /// program.
    #[error("rank {rank}: {operation}: {rule}")]
    Mpi {
        /// The rank that called it.
        rank: u32,
        /// The call.
        operation: String,
        /// The rule it breaks.
        rule: String,
    },
}

/// As `min_m 3 and max_p 4`.
fn named(constraints: &[(&str, u32)]) -> String {
    let named = constraints.iter().map(|(name, value)| format!("{name} {value}"));
    named.collect::<Vec<_>>().join(" and ")
}

/// What could have been meant, and all that is known.
fn alternatives(name: &str, known: &[String]) -> String {
    let nearest = suggest(name, known);
    let end = if nearest.is_empty() { ";" } else { "" };
    format!("{nearest}{end} known: {}", known.join(", "))
}

/// `; did you mean "x"?` where a known name is near.
pub fn suggest(name: &str, known: &[impl AsRef<str>]) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

/// The known name that `name` was likely meant to be: the only one that it begins, or the one that
/// differs in the fewest letters, in no more than a third of them. Capitals do not count, and two
/// neighbours that changed places count as one. A name in another unit was not mistyped.
pub(crate) fn nearest<'a>(name: &str, known: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let mut begun = known.iter().filter(|it| it.as_ref().to_lowercase().starts_with(&name));
    if let (2.., Some(only), None) = (name.chars().count(), begun.next(), begun.next()) {
        return Some(only.as_ref());
    }
    if known.iter().any(|candidate| is_in_another_unit(&name, candidate.as_ref())) {
        return None;
    }
    let near = |candidate: &'a str| {
        let changes = strsim::osa_distance(&name, &candidate.to_lowercase());
        let letters = candidate.chars().count();
        (changes * 3 <= letters.max(3) && changes < letters).then_some((changes, candidate))
    };
    let (_, name) = known.iter().filter_map(|candidate| near(candidate.as_ref())).min()?;
    Some(name)
}

/// Units of time that stand at the end of a column's name.
const UNITS: [&str; 6] = ["s", "ms", "us", "ns", "min", "h"];

/// Whether two names are of the same quantity, each in a unit of its own: to rename one would
/// change every value.
pub(crate) fn is_in_another_unit(name: &str, wanted: &str) -> bool {
    let split = |name: &str| {
        let (quantity, unit) = name.rsplit_once('_')?;
        UNITS.iter().find(|known| **known == unit).map(|unit| (quantity.to_string(), *unit))
    };
    let (one, other) = (split(name), split(wanted));
    one.zip(other).is_some_and(|(one, other)| one.0 == other.0 && one.1 != other.1)
}

/// A doubt about a result that is given all the same.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A column that the format does not know was skipped.
    #[error("{at}: column {name:?} is not known and was ignored{}", suggest(name, missing))]
    UnknownColumn {
        /// Where its header stands.
        at: Position,
        /// The column's name.
        name: String,
        /// Columns that may be missing and are, one of which could have been meant.
        missing: Vec<&'static str>,
    },
    /// A table over m was asked beyond its last m; its last value was used.
    #[error("{term} is known up to m = {last}; its last value was used for m = {m} and above")]
    BeyondTable {
        /// The term, by its name in files.
        term: &'static str,
        /// The largest m in the table.
        last: u32,
        /// The smallest m asked for beyond it.
        m: u32,
    },
    /// The data cannot tell some terms apart; their sum was put on one of them.
    #[error("{on} stands for a sum that these data cannot split: {}", sum.join(" + "))]
    Combined {
        /// The term that carries the sum.
        on: &'static str,
        /// All terms in the sum.
        sum: Vec<String>,
    },
    /// A term that no file determines was set to a neutral value.
    #[error("{term} was not measured and is taken as {taken}; give {measure} to measure it")]
    NotMeasured {
        /// The term, by its name in files.
        term: &'static str,
        /// The value used instead.
        taken: f64,
        /// The flag that would provide it.
        measure: &'static str,
    },
    /// A term ended at a bound of its range, which its standard error does not know.
    #[error("{term} ended at its bound {bound}; its standard error is not to be trusted")]
    AtBound {
        /// The term, by its name in files.
        term: &'static str,
        /// The bound.
        bound: f64,
    },
    /// A prediction that rests on a table held constant beyond its last m.
    #[error(
        "the interval of ({m}, {p}) rests to {:.0} % on what {term} may be beyond m = {last}; \
         measure it at m = {m}",
        100.0 * share
    )]
    Extrapolated {
        /// Host threads of the configuration.
        m: u32,
        /// APUs for each of them.
        p: u32,
        /// The term that widens the interval most, by its name in files.
        term: &'static str,
        /// The largest m in its table.
        last: u32,
        /// Its part of the variance of the predicted time.
        share: f64,
    },
    /// The first repetitions differ from the others.
    #[error(
        "{file}: the first repetition takes {percent:+.1} % against the others, more than chance \
         explains: what is measured warms up; run it once before the clock starts"
    )]
    WarmUp {
        /// The file of the runs.
        file: String,
        /// How much longer the first repetition takes, in per cent.
        percent: f64,
        /// The same in standard errors.
        deviations: f64,
    },
    /// Times change from repetition to repetition.
    #[error(
        "{file}: times change by {percent:+.1} % from the second repetition to the last \
         ({deviations:.1} standard errors): the machine was not in a steady state; mix the order \
         of the configurations, or let it settle"
    )]
    Drift {
        /// The file of the runs.
        file: String,
        /// The change over all repetitions, in per cent.
        percent: f64,
        /// The same in standard errors.
        deviations: f64,
    },
    /// A term was measured without repetition.
    #[error(
        "{term}: nothing in {file} was repeated, so that its standard error is unknown; give three \
         repetitions or more"
    )]
    MeasuredOnce {
        /// The term, by its name in files.
        term: &'static str,
        /// The file.
        file: String,
    },
    /// Something else that the reader of a result should know.
    #[error("{0}")]
    Note(String),
    /// Values of which nobody knows how uncertain they are.
    #[error(
        "intervals and probabilities know nothing of the uncertainty of {}: no standard error is given",
        terms.join(", ")
    )]
    NoStandardError {
        /// The terms, by their names in files.
        terms: Vec<&'static str>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_suggests_the_nearest() {
        let error = Error::UnknownName {
            kind: "machine",
            name: "qs2O".into(),
            known: vec!["ps3".into(), "qs20".into()],
        };
        assert_eq!(
            error.to_string(),
            "there is no machine \"qs2O\"; did you mean \"qs20\"? known: ps3, qs20"
        );
    }

    /// Which of the names that a user of the command line may choose among is suggested.
    fn check(name: &str, suggested: Option<&str>) {
        let known = ["ps3", "qs20", "qs22", "pbpi", "raxml", "t_hpu_s", "alpha", "p", "python"];
        assert_eq!(nearest(name, &known), suggested, "{name:?}");
    }

    #[test]
    fn a_name_with_few_letters_changed_is_recognised() {
        check("qs21", Some("qs20"));
        check("pbbi", Some("pbpi"));
        check("alhpa", Some("alpha"));
        check("thpu_s", Some("t_hpu_s"));
        check("RAXML", Some("raxml"));
    }

    #[test]
    fn the_beginning_of_one_name_is_recognised_and_that_of_several_is_not() {
        check("ra", Some("raxml"));
        check("py", Some("python"));
        check("qs", None);
        check("r", None);
    }

    #[test]
    fn what_resembles_nothing_is_taken_for_nothing() {
        check("cell", None);
        check("", None);
        check("m", None);
        check("t_apu", None);
        check("t_hpu_ms", None);
        assert_eq!(nearest("c_apu_ms", &["t_apu_s", "c_apu_s"]), None);
    }
}
