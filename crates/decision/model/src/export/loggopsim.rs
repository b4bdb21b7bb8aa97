//! The terms of communication as flags of LogGOPSim.

use super::left_out::left_out;
use super::names::comment;
use crate::models::parameters::Parameters;

/// Comment lines and one line of flags for LogGOPSim: `-L`, `-o`, `-g`, `-G`, `-O`, `-S`.
///
/// A message there and one back cost `2*(o + L + o)` (eq. 1), which is O_offload; the terms do not
/// say how it divides, and all of it is put on `L`, half for each way. `g` is the gap between
/// off-loads. Both are whole nanoseconds there, and rounded. The cost of a byte is 0: the model
/// overlaps transfers. The other terms are not communication and are not carried over.
pub fn loggopsim(parameters: &Parameters) -> String {
    let nanoseconds = |seconds: f64| (seconds * 1e9).round();
    format!(
        "# {}: terms of equation 11 of MMGP [ns].\n\
         # L is half of O_offload, rounded; o is 0, as the terms do not part it from L.\n\
         # Transfers are overlapped in the model: a byte costs nothing, and -S (the size from which\n\
         # messages wait for their receiver) is not reached.\n{more}\
         -L {} -o 0 -g {} -G 0 -O 0 -S 2147483647\n",
        comment(&parameters.name),
        nanoseconds(parameters.terms.o_offload_s.value / 2.0),
        nanoseconds(parameters.terms.g_s.value),
        more = left_out(parameters).map(|it| format!("# {it}\n")).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::everything;
    use super::*;

    #[test]
    fn the_last_line_is_the_flags() {
        let text = loggopsim(&everything());
        // 70 ns there and back, 40 us of gap.
        let flags = "-L 35 -o 0 -g 40000 -G 0 -O 0 -S 2147483647";
        assert_eq!(text.lines().last(), Some(flags));
        assert!(text.lines().rev().skip(1).all(|line| line.starts_with('#')));
    }
}
