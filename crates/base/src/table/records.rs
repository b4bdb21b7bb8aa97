//! The row types of every CSV file that mmgp reads or writes, with the unit in each name.

use std::fmt;

use super::csv::{Record, Row};
use crate::error::Result;

/// Declares the type of a row from its columns: after `by` those that no two rows may share, then
/// every column in the order of writing, with the reader of [`Row`] that checks it and, for a
/// count, its least value; after `else` the columns that may be missing, with what is read then.
macro_rules! record {
    (
        $(#[$doc:meta])*
        $name:ident by ($($key:ident: $key_type:ty),+) {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $read:ident($($least:literal)?),)+
        }
        $(else { $($optional:ident = $default:literal),+ })?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)+
        }

        impl Record for $name {
            const COLUMNS: &'static [&'static str] = &[$(stringify!($field)),+];
            const KEY_COLUMNS: &'static [&'static str] = &[$(stringify!($key)),+];
            const OPTIONAL: &'static [(&'static str, &'static str)] =
                &[$($((stringify!($optional), $default)),+)?];
            type Key = ($($key_type,)+);

            fn read(row: &Row<'_>) -> Result<Self> {
                let mut columns = 0;
                let mut next_column = || {
                    columns += 1;
                    columns - 1
                };
                $(let $field = row.$read(next_column() $(, $least)?)?;)+
                Ok(Self { $($field),+ })
            }

            fn key(&self) -> Self::Key {
                ($(self.$key.to_owned(),)+)
            }

            fn write(&self) -> Vec<String> {
                vec![$(self.$field.to_string()),+]
            }
        }
    };
}

mod programs;
mod terms;

pub use programs::*;
pub use terms::*;

record! {
    /// A row of `alpha.csv`: time until all of `processes` concurrent matrix products are done.
    Alpha by (matrix_size: u32, processes: u32, repetition: u32) {
        /// Rows and columns of each square matrix of doubles.
        matrix_size: u32 = count(1),
        /// Concurrent processes, one product each.
        processes: u32 = count(1),
        /// Which repetition of the same measurement.
        repetition: u32 = count(1),
        /// Time until the last of them was done \[s\].
        time_s: f64 = seconds(),
    }
}

record! {
    /// A row of a trace of turns, each a host burst and the off-load after it.
    Turn by (turn: u32) {
        /// Which turn, from 1.
        turn: u32 = count(1),
        /// Time of the host before the off-load \[us\].
        ppe_us: f64 = number(),
        /// Time of the off-load on one APU \[us\].
        task_us: f64 = number(),
    }
}

record! {
    /// A row of `offload.csv`: a ping-pong between HPU and APU.
    Offload by (bytes: u64, repetition: u32) {
        /// Size of each message.
        bytes: u64 = large_count(0),
        /// Which repetition of the same measurement.
        repetition: u32 = count(1),
        /// Round trips in `time_s`.
        round_trips: u64 = large_count(1),
        /// Time of all the round trips \[s\].
        time_s: f64 = seconds(),
        /// What was done; the column may be missing.
        mode: OffloadMode = offload_mode(),
    }
    else { mode = "pingpong" }
}

/// What the rows of `offload.csv` time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OffloadMode {
    /// `pingpong`: round trips, each message after the one before it has come back.
    PingPong,
}

impl fmt::Display for OffloadMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pingpong")
    }
}

impl Row<'_> {
    /// The only mode; times of messages one way would pass for those of round trips.
    fn offload_mode(&self, column: usize) -> Result<OffloadMode> {
        match self.text(column) {
            "pingpong" => Ok(OffloadMode::PingPong),
            _ => Err(self.field_error(
                column,
                "pingpong; messages one way are no longer read: leave their rows out, and for g \
                 time the program at several p, as m,p,repetition,time_s in runs.csv",
            )),
        }
    }
}

record! {
    /// A row of `context_switch.csv`: processes that take turns.
    ContextSwitch by (processes: u32, repetition: u32, mode: String) {
        /// Processes that take turns on one hardware context.
        processes: u32 = count(1),
        /// Which repetition of the same measurement.
        repetition: u32 = count(1),
        /// Context switches in `time_s`.
        switches: u64 = large_count(1),
        /// Time of all the switches \[s\].
        time_s: f64 = seconds(),
        /// How they take turns, such as `yield`, or `futex` where one wakes the next and sleeps; the
        /// column may be missing.
        mode: String = word(),
    }
    else { mode = "yield" }
}

record! {
    /// A row of `collective.csv`: a collective operation of MPI among `ranks` processes.
    Collective by (operation: String, ranks: u32, bytes: u64, repetition: u32) {
        /// The operation, such as `allreduce`.
        operation: String = word(),
        /// Processes that take part.
        ranks: u32 = count(1),
        /// Bytes that each contributes.
        bytes: u64 = large_count(0),
        /// Which repetition of the same measurement.
        repetition: u32 = count(1),
        /// Calls in `time_s`.
        calls: u64 = large_count(1),
        /// Time of all the calls \[s\].
        time_s: f64 = seconds(),
    }
}

record! {
    /// A row of `memory.csv`: accelerators that stream through one memory at once.
    MemoryStream by (accelerators: u32, bytes: u64, repetition: u32) {
        /// Accelerators at once, all on the same memory.
        accelerators: u32 = count(1),
        /// Bytes that each of them moves, both directions together.
        bytes: u64 = large_count(1),
        /// Which repetition of the same measurement.
        repetition: u32 = count(1),
        /// Time until the last of them was done \[s\].
        time_s: f64 = seconds(),
    }
}

record! {
    /// A row of `profile.csv`: totals of a sequential run (m = p = 1) for one phase, which is one
    /// off-loaded function with the host code that leads to it.
    Profile by (phase: String, repetition: u32) {
        /// The phase's name.
        phase: String = word(),
        /// Which repetition of the same run.
        repetition: u32 = count(1),
        /// Off-loads in the run.
        offloads: u64 = large_count(0),
        /// Collective operations in the run.
        collectives: u64 = large_count(0),
        /// Time on the host \[s\].
        hpu_time_s: f64 = seconds(),
        /// Time on the APU in loops that several APUs can share \[s\].
        apu_parallel_time_s: f64 = seconds(),
        /// Time on the APU that they cannot share \[s\].
        apu_serial_time_s: f64 = seconds(),
        /// Time that the host spends starting APUs, between deciding to and being done \[s\].
        gap_time_s: f64 = seconds(),
    }
}

record! {
    /// A row of `runs.csv`: one timed run of the program.
    Run by (m: u32, p: u32, repetition: u32) {
        /// Host threads.
        m: u32 = count(1),
        /// APUs for each of them.
        p: u32 = count(1),
        /// Which repetition of the same run.
        repetition: u32 = count(1),
        /// Time of the run \[s\].
        time_s: f64 = seconds(),
    }
}

record! {
    /// A row of `predictions.csv`: one feasible configuration, ranked.
    Prediction by (m: u32, p: u32) {
        /// Place in the order of predicted time, from 1.
        rank: u32 = count(1),
        /// Host threads.
        m: u32 = count(1),
        /// APUs for each of them.
        p: u32 = count(1),
        /// Predicted time \[s\].
        time_s: f64 = seconds(),
        /// Lower end of the 95 % interval \[s\].
        low_s: f64 = seconds(),
        /// Upper end of that interval \[s\].
        high_s: f64 = seconds(),
        /// Probability that no other configuration is faster; empty where nothing can be said.
        probability_best: Maybe = maybe_number(),
        /// Predicted time of (1, 1) over that of this configuration.
        speedup: f64 = number(),
        /// Speed-up over the APUs in use.
        efficiency: f64 = number(),
        /// Expected loss to the configuration that is really the fastest \[s\].
        expected_regret_s: f64 = seconds(),
        /// The loss that 95 % of the draws do not exceed \[s\].
        regret_95_s: f64 = seconds(),
        /// 1 where it cannot be told from the best, 0 where it is shown to be slower.
        indistinguishable: u32 = count(0),
        /// Measured time; empty where it did not run \[s\].
        measured_s: Maybe = maybe_seconds(),
        /// 1 where m or p is beyond what was timed.
        beyond: u32 = count(0),
    }
    else { measured_s = "", beyond = "0" }
}

record! {
    /// A row of `validation.csv`: predictions beside what was measured.
    Validation by (m: u32, p: u32) {
        /// Host threads.
        m: u32 = count(1),
        /// APUs for each of them.
        p: u32 = count(1),
        /// Measured time \[s\].
        measured_s: f64 = seconds(),
        /// Time predicted by equation 11 \[s\].
        predicted_s: f64 = seconds(),
        /// `100 * (predicted_s - measured_s) / measured_s`.
        error_percent: f64 = number(),
        /// Time predicted by the refined model \[s\]; the column may be missing.
        refined_s: Maybe = maybe_seconds(),
    }
    else { refined_s = "" }
}

/// A number that may not be known: an empty field.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Maybe<T = f64>(pub Option<T>);

impl<T: fmt::Display> fmt::Display for Maybe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |number| number.fmt(f))
    }
}

impl Row<'_> {
    /// A finite time of zero or more \[s\], or nothing.
    fn maybe_seconds(&self, column: usize) -> Result<Maybe> {
        let is_known = !self.text(column).is_empty();
        Ok(Maybe(is_known.then(|| self.seconds(column)).transpose()?))
    }

    /// A finite number, or nothing.
    fn maybe_number(&self, column: usize) -> Result<Maybe> {
        let is_known = !self.text(column).is_empty();
        Ok(Maybe(is_known.then(|| self.number(column)).transpose()?))
    }
}

record! {
    /// A row of `schedulers.csv`: a program under a scheduler.
    Scheduled by (scheduler: String, workers: u32, tasks: u32, seed: u64) {
        /// The scheduler's name.
        scheduler: String = word(),
        /// Host processes.
        workers: u32 = count(1),
        /// Independent tasks that they take.
        tasks: u32 = count(1),
        /// APUs of each worker.
        spes_per_task: u32 = count(1),
        /// Time from the start to the end of the last task \[s\].
        time_s: f64 = seconds(),
        /// How much of the time the workers' APUs were busy, in the mean \[%\].
        apu_busy_percent: f64 = number(),
        /// Time in which they were not, for each off-load \[us\].
        apu_idle_per_offload_us: f64 = number(),
        /// Changes from one process to another on a hardware thread.
        context_switches: u64 = large_count(0),
        /// Off-loads of all tasks.
        offloads: u64 = large_count(0),
        /// Seed of all random numbers.
        seed: u64 = large_count(0),
    }
}

record! {
    /// A row of `split.csv`: where the time of a run went, as means over its host processes. The
    /// parts add up to `time_s`, but for what the timebase rounds.
    Split by (m: u32, p: u32) {
        /// Host threads.
        m: u32 = count(1),
        /// APUs for each of them.
        p: u32 = count(1),
        /// Time of the run \[s\].
        time_s: f64 = seconds(),
        /// Between off-loads: the host's code, collectives, and waiting for a hardware thread \[s\].
        host_s: f64 = seconds(),
        /// Time in off-loads, starting APUs and collecting them \[s\].
        start_s: f64 = seconds(),
        /// Time of APUs in off-loads, in loops that several can share, as a mean over those of a process
        /// \[s\].
        apu_shared_s: f64 = seconds(),
        /// Time of APUs in off-loads, in everything else, as a mean over those of a process \[s\].
        apu_serial_s: f64 = seconds(),
        /// The rest of off-loads: signals on their way, APUs that wait for the slowest, the process
        /// waiting for a hardware thread \[s\].
        wait_s: f64 = seconds(),
        /// Time before the first host code and after the last: of tasks, waiting for the other processes
        /// to end \[s\].
        idle_s: f64 = seconds(),
    }
}

record! {
    /// A row of `machine.csv`: a published figure beside what the emulated machine shows.
    MachineFigure by (figure: String) {
        /// What it is about: `spu`, `dma`, `eib`, `signals`, `ppe`, `linux`, `mpi`.
        group: String = word(),
        /// Name: the program that measures it, and what that is told.
        figure: String = word(),
        /// What it is, in a few words.
        what: String = word(),
        /// `<` or `>` where only a bound was published; else empty.
        relation: String = phrase(),
        /// The published value, in `unit`.
        published: f64 = number(),
        /// What the emulated machine shows, in `unit`.
        emulated: f64 = number(),
        /// `ns`, `us`, `GB/s`, `GFLOP/s`, `cycle` or `ratio`.
        unit: String = word(),
        /// `100 * (emulated - published) / published`; of a bound that is kept, 0.
        error_percent: f64 = number(),
        /// `input` where a constant of the machine was taken from this figure or one on the same
        /// subject in the same document, `calibrated` where one was chosen to meet it, else
        /// `independent`.
        basis: String = word(),
        /// What was found out: figures of one fact follow from one another.
        fact: String = word(),
        /// Names of those constants, with blanks between.
        constants: String = phrase(),
        /// Whether the figure was published so: `yes`; `derived` from what was; `no`, as it is
        /// remembered and its source was not at hand; `disputed`, as other figures contradict it.
        confirmed: String = word(),
        /// Place of its publication.
        source: String = word(),
        /// What has to be said beside it.
        remark: String = phrase(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::super::csv::{read, write};
    use super::*;

    fn check(text: &str) -> Result<Vec<Offload>> {
        read(&Source::new("offload.csv", text)).map(|(rows, warnings)| {
            assert_eq!(warnings, []);
            rows
        })
    }

    #[test]
    fn a_file_without_modes_is_ping_pong_and_stays_as_it_is() {
        let text = "bytes,repetition,round_trips,time_s\n8,1,10,0.5\n16,1,10,0.75\n";
        assert_eq!(write(&check(text).unwrap()), text);
        let with_modes = "bytes,repetition,round_trips,time_s,mode\n8,1,10,0.5,pingpong\n\
                          16,1,10,0.75,pingpong\n";
        assert_eq!(write(&check(with_modes).unwrap()), text);
        let twice = check("bytes,repetition,round_trips,time_s\n8,1,10,0.5\n8,1,10,0.5\n");
        assert_eq!(
            twice.unwrap_err().to_string(),
            "offload.csv:3:1: found a second row for bytes = 8, repetition = 1, expected one row \
             for each"
        );
    }

    #[test]
    fn turns_of_two_modes_are_two_measurements_and_yields_need_not_be_named() {
        let check = |text: &str| {
            let (rows, _) =
                read::<ContextSwitch>(&Source::new("context_switch.csv", text)).unwrap();
            assert_eq!((write(&rows).as_str(), rows[0].mode.as_str()), (text, "yield"));
        };
        check("processes,repetition,switches,time_s\n2,1,10,0.5\n");
        check("processes,repetition,switches,time_s,mode\n2,1,10,0.5,yield\n2,1,10,0.75,futex\n");
    }

    #[test]
    fn messages_one_way_are_no_round_trips_and_the_error_says_what_to_time_instead() {
        for mode in ["stream", "send", "push"] {
            let text = format!("mode,bytes,repetition,round_trips,time_s\n{mode},8,1,10,0.5\n");
            let error = check(&text).unwrap_err().to_string();
            let found = format!(
                "offload.csv:2:1: found \"{mode}\" in column \"mode\", expected pingpong; "
            );
            assert!(error.starts_with(&found), "{error}");
            assert!(error.ends_with("as m,p,repetition,time_s in runs.csv"), "{error}");
        }
    }

    #[test]
    fn a_time_that_is_not_known_is_an_empty_field_and_no_column_where_none_is() {
        let text = "m,p,measured_s,predicted_s,error_percent,refined_s\n1,1,10,11,10,10.5\n\
                    1,2,5,4,-20,\n";
        let (mut rows, _) = read::<Validation>(&Source::new("validation.csv", text)).unwrap();
        assert_eq!([rows[0].refined_s.0, rows[1].refined_s.0], [Some(10.5), None]);
        assert_eq!(write(&rows), text);
        rows[0].refined_s = Maybe(None);
        assert!(write(&rows).starts_with("m,p,measured_s,predicted_s,error_percent\n"));
        let wrong = Source::new("validation.csv", &text.replace("10.5", "-1"));
        let error = read::<Validation>(&wrong).unwrap_err().to_string();
        assert!(
            error.starts_with("validation.csv:2:14: found \"-1\" in column \"refined_s\""),
            "{error}"
        );
    }
}
