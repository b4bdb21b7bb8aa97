//! The terms of LogGP, from ping-pong over several sizes and, where they were measured, from
//! streams of messages and from the sender's own time.
//!
//! A round trip of k bytes each way takes `2*(o + L + o) + 2*k*G`, so ping-pong determines the
//! sum of overheads and latency, and G, and cannot take that sum apart, however many sizes it
//! has. Messages sent back to back follow each other by `max(o, g) + k*G` (as in the method of
//! Hoefler, Lichei and Rehm, Low-Overhead LogGP Parameter Assessment for Modern Interconnection
//! Networks, IPDPS 2007, that Netgauge uses), and how long a sender is busy is o; the column
//! `mode` of `offload.csv` says which rows are such. Bytes are counted from an empty message, one
//! more than in LogGP. What the processors at the ends do for each byte is part of G.

pub(crate) mod line;

use std::fmt;

use super::inputs::Measured;
use crate::models::parameters::Estimate;
use crate::statistics::Mean;
use line::{BySize, Lines};
use mmgp_base::error::{Error, Result};
use mmgp_base::table::records::{Offload, OffloadMode};

/// A term of LogGP, or why the data cannot say.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// Its value.
    Determined(Estimate),
    /// Why there is none, and what would have to be measured.
    Undetermined(String),
}

/// The cost of a message between HPU and APU: LogP (Culler and others, PPoPP 1993) with a gap per
/// byte (Alexandrov, Ionescu, Schauser and Scheiman, SPAA 1995). A message of k bytes takes
/// `o + L + k*G + o` from one to the other.
#[derive(Debug, Clone, PartialEq)]
pub struct LogGp {
    /// `o + L + o`: an empty message, half of an empty round trip \[s\].
    pub crossing_s: Finding,
    /// o: what a message costs the processor that sends it, and as much the one that receives it
    /// \[s\].
    pub overhead_s: Finding,
    /// L: what a message is under way \[s\].
    pub latency_s: Finding,
    /// g: between two messages that follow one another, or o where that is longer \[s\].
    pub gap_s: Finding,
    /// G: for each further byte \[s\].
    pub gap_per_byte_s: Finding,
    /// The largest size in bytes below a change of protocol, where there is one.
    pub change_bytes: Option<u64>,
    /// G above that size \[s\].
    pub gap_per_byte_above_s: Option<Estimate>,
}

impl Finding {
    /// The value, where there is one.
    pub fn estimate(&self) -> Option<&Estimate> {
        match self {
            Finding::Determined(estimate) => Some(estimate),
            Finding::Undetermined(_) => None,
        }
    }

    fn unless_negative(estimate: Estimate, meaning: &str) -> Self {
        if estimate.value >= 0.0 {
            return Finding::Determined(estimate);
        }
        Finding::Undetermined(format!("{:.3e} s came out, and {meaning}", estimate.value))
    }
}

/// What `measured` determines of LogGP.
///
/// # Errors
///
/// [`crate::Error::TooLittleData`] where a message takes no time on the clock.
pub fn loggp(measured: &Measured<Offload>) -> Result<LogGp> {
    let file = measured.file.as_str();
    let unknown = |reason: &str| Finding::Undetermined(reason.to_string());
    let mut found = LogGp {
        crossing_s: unknown("it takes ping-pong of two sizes"),
        overhead_s: unknown("it takes rows of mode \"send\": how long the sender is busy"),
        latency_s: unknown("ping-pong knows only o + L + o; it takes rows of mode \"send\" too"),
        gap_s: unknown("it takes rows of mode \"stream\": messages sent back to back"),
        gap_per_byte_s: unknown("it takes messages of two sizes"),
        change_bytes: None,
        gap_per_byte_above_s: None,
    };
    let times = |mode| times(measured, mode);
    let stream = times(OffloadMode::Stream)?;
    if !stream.is_empty() {
        let (gap, per_byte) = intercept_and_slope(&stream);
        found.gap_s = Finding::unless_negative(gap.measured_in(file), "no gap is negative");
        if let Some(per_byte) = per_byte {
            found.gap_per_byte_s = per_byte_of(per_byte, file);
        }
    }
    let send = times(OffloadMode::Send)?;
    let overhead = (!send.is_empty()).then(|| intercept_and_slope(&send).0);
    if let Some(overhead) = &overhead {
        let estimate = overhead.measured_in(file);
        found.overhead_s = Finding::unless_negative(estimate, "no overhead is negative");
    }
    let ping_pong = times(OffloadMode::PingPong)?;
    if ping_pong.len() >= 2 {
        let lines = Lines::through(&ping_pong);
        let crossing = lines.first.intercept.per(2.0);
        found.gap_per_byte_s = per_byte_of(lines.first.slope.per(2.0), file);
        found.change_bytes = lines.change.map(|(last, _)| last);
        found.gap_per_byte_above_s =
            lines.change.map(|(_, above)| above.slope.per(2.0).measured_in(file));
        if let Some(overhead) = overhead {
            let latency = crossing.minus(overhead.times(2.0)).measured_in(file);
            let meaning = "no latency is negative: sending and receiving may overlap";
            found.latency_s = Finding::unless_negative(latency, meaning);
        }
        found.crossing_s =
            Finding::unless_negative(crossing.measured_in(file), "no crossing is negative");
    }
    Ok(found)
}

fn per_byte_of(slope: Mean, file: &str) -> Finding {
    let meaning = "larger messages are no slower at these sizes; measure larger ones";
    Finding::unless_negative(slope.measured_in(file), meaning)
}

/// A message without bytes, and what each byte adds where there are two sizes.
fn intercept_and_slope(times: &BySize) -> (Mean, Option<Mean>) {
    if times.len() >= 2 {
        let line = Lines::through(times).first;
        return (line.intercept, Some(line.slope));
    }
    (Mean::of(&times.values().flatten().copied().collect::<Vec<_>>()), None)
}

impl fmt::Display for LogGp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = [
            ("o + L + o", &self.crossing_s),
            ("o", &self.overhead_s),
            ("L", &self.latency_s),
            ("g", &self.gap_s),
            ("G", &self.gap_per_byte_s),
        ];
        write!(f, "LogGP between HPU and APU")?;
        for (name, finding) in terms {
            match finding {
                Finding::Determined(estimate) => {
                    write!(f, "\n  {name:<10} {:.4e} s", estimate.value)?;
                    if let Some((low, high)) = estimate.interval() {
                        write!(f, ", 95 % from {low:.4e} to {high:.4e}")?;
                    }
                }
                Finding::Undetermined(reason) => write!(f, "\n  {name:<10} unknown: {reason}")?,
            }
        }
        if let (Some(bytes), Some(above)) = (self.change_bytes, &self.gap_per_byte_above_s) {
            write!(f, "\n  above {bytes} bytes another protocol: G = {:.4e} s", above.value)?;
        }
        Ok(())
    }
}

/// The times of one message or round trip of that mode, by size.
pub(crate) fn times(measured: &Measured<Offload>, mode: OffloadMode) -> Result<BySize> {
    let mut by_bytes = BySize::new();
    for row in measured.rows.iter().filter(|row| row.mode == mode) {
        by_bytes.entry(row.bytes).or_default().push(row.time_s / row.round_trips as f64);
    }
    if let Some((bytes, _)) = by_bytes.iter().find(|(_, times)| Mean::of(times).value <= 0.0) {
        let of_mode = match mode {
            OffloadMode::PingPong => "round trips",
            OffloadMode::Stream | OffloadMode::Send => "messages",
        };
        return Err(Error::TooLittleData {
            file: measured.file.clone(),
            found: format!("a time of 0 s for {of_mode} of {bytes} bytes"),
            advice: format!("measure more {of_mode}, so that the clock can see them"),
        });
    }
    Ok(by_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::sample::noise::{assert_covers, relative};

    /// Rows of a machine with o = 100 ns, L = 300 ns, g = 150 ns, G = 1 ns a byte.
    fn rows(modes: &[OffloadMode], noise: f64, seed: u64) -> Measured<Offload> {
        let mut factor = relative(seed);
        let mut rows = Vec::new();
        for &mode in modes {
            for bytes in [0, 64, 256, 1024] {
                let time = match mode {
                    OffloadMode::PingPong => 2.0 * (500e-9 + 1e-9 * bytes as f64),
                    OffloadMode::Stream => 150e-9 + 1e-9 * bytes as f64,
                    OffloadMode::Send => 100e-9,
                };
                rows.extend((1..=5).map(|repetition| Offload {
                    bytes,
                    repetition,
                    round_trips: 10,
                    time_s: 10.0 * time * factor(noise),
                    mode,
                }));
            }
        }
        Measured { file: "offload.csv".into(), rows }
    }

    const ALL: [OffloadMode; 3] = [OffloadMode::PingPong, OffloadMode::Stream, OffloadMode::Send];

    #[test]
    fn ping_pong_knows_the_sum_of_overheads_and_latency_only() {
        let found = loggp(&rows(&[OffloadMode::PingPong], 0.0, 1)).unwrap();
        let value = |finding: &Finding| finding.estimate().unwrap().value;
        approx::assert_relative_eq!(value(&found.crossing_s), 500e-9, max_relative = 1e-12);
        approx::assert_relative_eq!(value(&found.gap_per_byte_s), 1e-9, max_relative = 1e-12);
        for unknown in [&found.overhead_s, &found.latency_s, &found.gap_s] {
            assert_eq!(unknown.estimate(), None);
        }
        assert_eq!(found.change_bytes, None);
        let text = found.to_string();
        assert!(text.contains("L          unknown: ping-pong knows only o + L + o"), "{text}");
    }

    #[test]
    fn streams_and_the_senders_time_tell_the_rest() {
        let found = loggp(&rows(&ALL, 0.0, 1)).unwrap();
        let value = |finding: &Finding| finding.estimate().unwrap().value;
        approx::assert_relative_eq!(value(&found.overhead_s), 100e-9, max_relative = 1e-12);
        approx::assert_relative_eq!(value(&found.latency_s), 300e-9, max_relative = 1e-9);
        approx::assert_relative_eq!(value(&found.gap_s), 150e-9, max_relative = 1e-12);
        assert_eq!(found.overhead_s.estimate().unwrap().std_error, Some(0.0));
    }

    #[test]
    fn a_latency_below_zero_is_none() {
        let mut measured = rows(&ALL, 0.0, 1);
        for row in measured.rows.iter_mut().filter(|row| row.mode == OffloadMode::Send) {
            row.time_s *= 4.0;
        }
        let found = loggp(&measured).unwrap().latency_s;
        let Finding::Undetermined(reason) = found else { panic!("{found:?}") };
        assert!(reason.starts_with("-3.000e-7 s came out"), "{reason}");
    }

    #[test]
    fn intervals_cover_the_truth_in_95_of_100_files() {
        let check = |term: fn(&LogGp) -> &Finding, truth: f64| {
            assert_covers(|seed| {
                let found = loggp(&rows(&ALL, 0.02, seed)).unwrap();
                (term(&found).estimate().unwrap().interval().unwrap(), truth)
            });
        };
        check(|found| &found.crossing_s, 500e-9);
        check(|found| &found.gap_per_byte_s, 1e-9);
        check(|found| &found.overhead_s, 100e-9);
        check(|found| &found.latency_s, 300e-9);
        check(|found| &found.gap_s, 150e-9);
    }
}
