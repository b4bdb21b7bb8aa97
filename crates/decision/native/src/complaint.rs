//! What a program prints that failed and yet ends well: `ERROR: out of memory`, `Segmentation fault` of a
//! command within its script.

/// What is printed of a program that a signal ended.
const SIGNALS: [&str; 6] = [
    "Segmentation fault",
    "Killed",
    "Aborted",
    "Bus error",
    "Illegal instruction",
    "Floating point exception",
];

/// What an error is called, as it is written; what follows is no letter of a longer word.
const AS_WRITTEN: [&str; 2] = ["ERROR", "FATAL"];

/// The same in any letters.
const IN_ANY_LETTERS: [&str; 3] = ["error:", "fatal:", "fatal error"];

/// What follows a name of an error that says that there is none.
const NOTHING: [&str; 4] = ["none", "no", "ok", "n/a"];

/// The first line that says that something went wrong. An error that is a number, as of an integrator, is
/// none: what is doubtful is passed over.
pub fn complaint(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| is_complaint(line))
}

fn is_complaint(line: &str) -> bool {
    let of_shell = after_shell(line);
    if SIGNALS.iter().any(|signal| of_shell.is_some_and(|it| it.starts_with(signal))) {
        return true;
    }
    let alone = line.trim_end_matches(" (core dumped)");
    SIGNALS.contains(&alone) || is_error(after_origin(line))
}

/// What follows `./run.sh: line 3: 1234 `.
fn after_shell(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once(": line ")?.1.split_once(": ")?;
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let (process, rest) = rest.trim_start().split_once(' ')?;
    (is_number(number) && is_number(process)).then(|| rest.trim_start())
}

/// What follows `[rank 3]` or `[12:00:01]`.
fn after_origin(line: &str) -> &str {
    let bracketed = line.strip_prefix('[').and_then(|it| it.split_once(']'));
    bracketed.map_or(line, |(_, rest)| rest.trim_start())
}

fn is_error(line: &str) -> bool {
    let in_any_letters =
        |name: &&&str| line.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name));
    let as_written = AS_WRITTEN.iter().find_map(|name| line.strip_prefix(name));
    let rest = match as_written {
        Some(rest) if rest.is_empty() || rest.starts_with([' ', '\t', ':', '!', ',', '.']) => rest,
        _ => match IN_ANY_LETTERS.iter().find(in_any_letters) {
            // The colon that ends a name says what follows.
            Some(name) => &line[name.trim_end_matches(':').len()..],
            None => return false,
        },
    };
    let said = rest.trim_start_matches([':', '=', '!', ' ', '\t']);
    let is_nothing = NOTHING.iter().any(|it| said.trim_end_matches('.').eq_ignore_ascii_case(it));
    let is_said = rest.starts_with([':', '!']);
    let mut words = said.split_whitespace();
    let is_value = match (words.next(), words.next_back()) {
        (Some(first), _) if is_number(first) => true,
        // The norm of one, or a column of them.
        (Some(_), Some(last)) if !is_said => is_number(last) || said.contains(" = "),
        _ => rest.trim_start().starts_with('='),
    };
    !is_nothing && !is_value
}

/// A number, also as Fortran writes it.
fn is_number(word: &str) -> bool {
    let word = word.trim_end_matches(['%', ',', ';', '.', ')']).replace(['D', 'd'], "e");
    word.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_found_where_a_line_begins_with_it() {
        for line in [
            "ERROR",
            "ERROR: out of memory",
            "ERROR on proc 0: Lost atoms (src/thermo.cpp:494)",
            "ERROR! the mesh has no cells",
            "FATAL: rank 3 is gone",
            "FATAL ERROR in MPI_Init",
            "error: cannot open input.dat",
            "  Error: no such file",
            "Fatal error: cannot read the topology",
            "[rank 3] ERROR: atoms are lost",
            "[12:00:01] fatal: bad handle",
            "Segmentation fault",
            "Segmentation fault (core dumped)",
            "Killed",
            "./run.sh: line 3:  4711 Killed                  ./solve 4",
            "bash: line 1: 815 Segmentation fault      (core dumped) ./solve",
        ] {
            assert_eq!(complaint(&format!("time: 3 s\n{line}\ndone\n")), Some(line.trim()));
        }
    }

    #[test]
    fn an_error_that_is_a_number_is_none() {
        for line in [
            "Error norm: 1e-9",
            "error = 0.001",
            "error: 0.001",
            "Error: 1.5D-05 at step 3",
            "ERROR NORM: 1e-9",
            "ERROR (L2) = 3.2e-4",
            "ERROR = 1e-3 after 7 steps",
            "ERROR 0.5 %",
            "ERROR: none",
            "ERRORS: 0",
            "ERROR_BOUND: small",
            "0 errors",
            "no error: all is well",
            "Errors found: 0",
            "error estimate 0.01",
            "FATAL errors: 0",
            "Killed 3 walkers",
            "Aborted transactions: 12",
            "relative ERROR: large",
            "time: 3 s",
            "",
        ] {
            assert_eq!(complaint(line), None, "{line}");
        }
    }
}
