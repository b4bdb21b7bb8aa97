//! What the reader of a timeline should know of the branches in it.

use super::bind::{Control, When};
use super::expression::Value;
use super::{Iterations, Listed, Listing};
use mmgp_base::error::Warning;

impl Listing<'_> {
    /// Warnings about a straight line, or where `iterations` are known, about a loop.
    pub(super) fn warnings(&self, iterations: Option<&Iterations>) -> Vec<Warning> {
        let (last, before) = self.instructions.split_last().expect("invariant: there is one");
        let mut warnings = Vec::new();
        let mut warning = |fits: &dyn Fn(&Listed) -> bool, among: &[&Listed], what: &str| {
            let fitting = among.iter().filter(|listed| fits(listed));
            let lines: Vec<String> = fitting.map(|listed| listed.line.to_string()).collect();
            if let Some(first) = lines.first() {
                let (name, and) = (&self.source.name, lines[1..].join(", "));
                let and = if and.is_empty() { and } else { format!(" (and lines {and})") };
                warnings.push(Warning::Note(format!("{name}:{first}: {what}{and}")));
            }
        };
        let before: Vec<&Listed> = before.iter().collect();
        warning(
            &|listed| is_branch(listed, When::Call),
            &before,
            "a call is timed as if what it calls took no time",
        );
        warning(
            &|listed| is_branch(listed, When::Always),
            &before,
            "what follows this branch is timed as if it came there without it",
        );
        warning(
            &|listed| is_branch(listed, When::Conditional) && listed.leads_back(),
            &before,
            "the loop that this branch closes is timed as if it ran once",
        );
        match iterations {
            None => warning(
                &Listed::leads_back,
                &[last],
                "the loop that this branch closes is timed once; `--iterations N` runs it N times",
            ),
            Some(iterations) => {
                let (ahead, inside) = before.split_at(iterations.first);
                if !inside.iter().any(|listed| listed.hints(last)) {
                    warning(
                        &|listed| listed.hints(last),
                        ahead,
                        "this hint is spent when its branch runs for the first time; whether the \
                         SPU keeps it for the next iterations is not known",
                    );
                }
            }
        }
        warnings
    }
}

fn is_branch(listed: &Listed, expected: When) -> bool {
    matches!(listed.control, Control::Branch { when, .. } if when == expected)
}

impl Listed {
    /// Whether it is a hint for that branch.
    fn hints(&self, to: &Self) -> bool {
        let place = Value::Place(to.at.section, to.at.address);
        matches!(self.control, Control::Hint { branch, .. } if branch == place)
    }

    fn leads_back(&self) -> bool {
        let Control::Branch { target: Some(Value::Place(section, address)), .. } = self.control
        else {
            return false;
        };
        section == self.at.section && address <= self.at.address
    }
}
