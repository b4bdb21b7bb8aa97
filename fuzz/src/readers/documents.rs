//! Documents: parameters, formulas of algorithms, machines and published figures in TOML, trees and
//! alignments, and traces as `emulate --trace` and profilers write them.

use mmgp::Mapping;
use mmgp::apps::phylogeny::alignment::Alignment;
use mmgp::apps::phylogeny::newick;
use mmgp::complexity::formulas::Algorithm;
use mmgp::import::{Phases, profile};
use mmgp::machine::{Machine, figures};
use mmgp::models::Parameters;
use mmgp::table::csv;
use mmgp::table::records::Profile;
use mmgp::table::trace::Trace;
use mmgp::table::{DeviceTrace, Source};

use super::{Check, first_unsound, reader};
use crate::mutation::Format;
use crate::target::{Outcome, Seen, Target, judged, read_otherwise, refused};

fn parameters(source: &Source) -> Result<Outcome, String> {
    judged(Parameters::read(source), source, |read| {
        let text = read.to_toml();
        let again = Parameters::read(&Source::new("x.toml", &text));
        if let Some(wrong) = read_otherwise(again, &read, "what is written", &text) {
            return Some(wrong);
        }
        let terms = &read.terms;
        let estimates = terms.entries().into_iter().filter_map(|entry| terms.estimate(entry));
        let known = estimates.flat_map(|known| {
            [Some(known.value), known.std_error, known.degrees_of_freedom].into_iter().flatten()
        });
        // Finite values of any size may be given, whose sum is beyond what a number can hold.
        let time = read.time(Mapping::of(3, 2)).0;
        first_unsound(known.chain((!time.is_infinite()).then_some(time)))
    })
}

fn formulas(source: &Source) -> Result<Outcome, String> {
    judged(Algorithm::read(source), source, |algorithm| {
        algorithm
            .sizes
            .iter()
            .any(|(_, size)| !size.is_finite())
            .then(|| "a size is no number".into())
    })
}

/// A machine can be read again, bears its name and has SPEs.
fn machine(source: &Source) -> Result<Outcome, String> {
    judged(Machine::read(source), source, |read| {
        let numbers = [read.clock.0, read.mpi.copy.0, read.mpi.collective_cost(16).0];
        if !numbers.iter().all(|number| number.is_finite() && *number >= 0.0) {
            return Some(format!("a number was read: {numbers:?}"));
        }
        (read.layout.spes() == 0).then(|| "a machine without SPEs was read".into())
    })
}

fn published(source: &Source) -> Result<Outcome, String> {
    judged(figures::read("spu", source), source, |figures| {
        let unsound = figures.iter().find(|it| !(it.value > 0.0 && it.value.is_finite()));
        unsound.map(|figure| format!("a figure was read: {}", figure.value))
    })
}

const MACHINE_WORDS: &str = "{ value = 1, unit = \"s\", status = \"assumed\", source = \"x\" }¦\
    { value = 0, unit = \"cycle\", status = \"documented\", source = \"x\" }¦\
    base = \"qs20\"¦base = \"mine\"¦unit = \"GB/s\"¦unit = \"ns\"¦unit = \"us\"¦\
    status = \"calibrated\"¦[ppe]\n¦[spu]\n¦[mfc]\n";

fn tree(source: &Source) -> Result<Outcome, String> {
    let names: Vec<String> = ["a", "b", "c d", "e"].map(String::from).to_vec();
    judged(newick::read(source, &names), source, |tree| {
        if let Err(error) = tree.check() {
            return Some(format!("no tree was read: {error}"));
        }
        first_unsound(tree.branches().map(|branch| tree.branch_length(branch)))
    })
}

fn alignment(source: &Source) -> Result<Outcome, String> {
    judged(Alignment::read(source), source, |alignment| {
        (alignment.taxa() == 0 || alignment.sites() == 0).then(|| "nothing was read".into())
    })
}

/// Spans that end after they begin, on tracks with names, of known categories.
fn spans(source: &Source) -> Result<Outcome, String> {
    judged(Trace::read(source), source, |trace| {
        for track in &trace.tracks {
            for span in &track.spans {
                let is_sound = span.start_s.is_finite()
                    && span.end_s.is_finite()
                    && span.start_s <= span.end_s
                    && usize::from(span.category) < trace.categories.len();
                if !is_sound {
                    return Some(format!("a span was read: {span:?}"));
                }
            }
        }
        None
    })
}

/// A profile whose parts add up to no more than the trace, and that is read as it is written.
fn devices(source: &Source) -> Result<Outcome, String> {
    let trace = match DeviceTrace::of_json(source) {
        Err(error) => return refused(&error, source),
        Ok(trace) => trace,
    };
    for phases in [Phases::Functions, Phases::One] {
        let rows = match profile(std::slice::from_ref(&trace), phases, None) {
            Err(error) => return refused(&error, source),
            Ok((rows, _)) => rows,
        };
        let text = csv::write(&rows);
        let again = csv::read::<Profile>(&Source::new("profile.csv", &text));
        let wrong = read_otherwise(again.map(|(rows, _)| rows), &rows, "the profile", &text);
        // An empty trace has an empty profile.
        if let Some(wrong) = wrong.filter(|_| !rows.is_empty()) {
            return Err(wrong);
        }
    }
    Ok(Seen::Taken.into())
}

const TRACE_WORDS: &str = "\"ph\":\"X\"¦\"ph\":\"M\"¦\"dur\":-1¦\"ts\":1e18¦\"ts\":-5¦\"cat\":\"kernel\"¦\
    \"cat\":\"offload\"¦\"correlation\": 5¦\"device\": 1¦\"pid\":18446744073709551615¦\
    {\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\",\"cat\":\"b\"},";

/// Readers of documents.
pub fn targets() -> Vec<Target> {
    let text = |name, check: Check| {
        reader(name, Format::Text, "((¦))¦[x]¦'it''s'¦:0.1¦ACGT¦acgtn-?¦>¦4 8", check)
    };
    vec![
        reader(
            "parameters-toml",
            Format::Toml,
            "memory_demand_bytes_per_s¦interpolation¦line¦logarithm¦[refined]\n¦[runs]\n",
            parameters,
        ),
        reader(
            "formulas-toml",
            Format::Toml,
            "log2(n)¦n^3¦max(n, p)¦n/0¦((((¦-n¦sqrt(¦min(s, b)",
            formulas,
        ),
        reader("machine-toml", Format::Toml, MACHINE_WORDS, machine),
        reader(
            "figures-toml",
            Format::Toml,
            "at = [1, 2]\n¦value = [1.0, 2.0]\n¦[[figure]]\n¦\"ratio\"¦\"{at}\"¦\"<\"",
            published,
        ),
        text("newick", tree),
        text("phylip", alignment),
        text("fasta", alignment),
        reader("trace", Format::Text, TRACE_WORDS, spans),
        reader("device-trace", Format::Text, TRACE_WORDS, devices),
    ]
}
