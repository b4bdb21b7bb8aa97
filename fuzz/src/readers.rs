//! Every reader against damaged files and random bytes: what is refused is refused at a place in
//! the text, what is read is sane, and what is read and can be written is read back as the same.

use std::collections::BTreeSet;
use std::path::Path;

use mmgp::Mapping;
use mmgp::apps::phylogeny::alignment::Alignment;
use mmgp::apps::phylogeny::newick;
use mmgp::complexity::formulas::Algorithm;
use mmgp::import::{Division, Phases, profile, terms};
use mmgp::intake::{self, Claims, Columns, configurations};
use mmgp::machine::{Machine, figures};
use mmgp::models::Parameters;
use mmgp::table::csv::{self, Record};
use mmgp::table::records::{Profile, *};
use mmgp::table::trace::Trace;
use mmgp::table::{self, DeviceTrace, ProfilerFile, Source, log};

use crate::mutation::{Format, damaged};
use crate::target::{Input, Random, Seen, Target, Verdict, judged, read_otherwise, refused};

/// One reader for each kind of file: documents, whose formats have words of their own, tables, and runs and
/// lists of runs as other tools write them.
pub fn targets() -> Vec<Target> {
    const SEQUENCES: &str = "((¦))¦[x]¦'it''s'¦:0.1¦ACGT¦acgtn-?¦>¦4 8";
    const RUNS: &str = "PARAMETER¦POINTS¦DATA¦METRIC¦REGION¦point¦values¦times¦(1 1)";
    const PARAMETERS: &str =
        "memory_demand_bytes_per_s¦interpolation¦line¦logarithm¦[refined]\n¦[runs]\n";
    const FORMULAS: &str = "log2(n)¦n^3¦max(n, p)¦n/0¦((((¦-n¦sqrt(¦min(s, b)";
    const FIGURES: &str =
        "at = [1, 2]\n¦value = [1.0, 2.0]\n¦[[figure]]\n¦\"ratio\"¦\"{at}\"¦\"<\"";
    let all: [(&str, Format, &str, Check); 34] = [
        ("parameters-toml", Format::Toml, PARAMETERS, parameters),
        ("formulas-toml", Format::Toml, FORMULAS, formulas),
        ("machine-toml", Format::Toml, MACHINE_WORDS, machine),
        ("figures-toml", Format::Toml, FIGURES, published),
        ("newick", Format::Text, SEQUENCES, tree),
        ("phylip", Format::Text, SEQUENCES, alignment),
        ("fasta", Format::Text, SEQUENCES, alignment),
        ("trace", Format::Text, TRACE_WORDS, spans),
        ("device-trace", Format::Text, TRACE_WORDS, devices),
        ("profiler-json", Format::Text, PROFILER_WORDS, told),
        ("alpha-csv", Format::Csv, "", rows::<Alpha>),
        ("offload-csv", Format::Csv, "", rows::<Offload>),
        ("context-switch-csv", Format::Csv, "", rows::<ContextSwitch>),
        ("collective-csv", Format::Csv, "", rows::<Collective>),
        ("memory-csv", Format::Csv, "", rows::<MemoryStream>),
        ("profile-csv", Format::Csv, "", rows::<Profile>),
        ("terms-csv", Format::Csv, "", rows::<TermRow>),
        ("predictions-csv", Format::Csv, "", rows::<Prediction>),
        ("validation-csv", Format::Csv, "", rows::<Validation>),
        ("split-csv", Format::Csv, "", rows::<Split>),
        ("schedulers-csv", Format::Csv, "", rows::<Scheduled>),
        ("machine-csv", Format::Csv, "", rows::<MachineFigure>),
        ("turns-csv", Format::Csv, "", rows::<Turn>),
        ("messages-csv", Format::Csv, "", rows::<MessageTime>),
        ("threads-csv", Format::Csv, "", rows::<ThreadRun>),
        ("blocks-csv", Format::Csv, "", rows::<BlockRun>),
        ("block-messages-csv", Format::Csv, "", rows::<MessageRun>),
        // Plain, so that the fast reader takes them; and not, so that it does not.
        ("runs-csv", Format::Csv, "", timed_runs),
        ("extra-p-text", Format::Text, RUNS, foreign),
        ("extra-p-json", Format::Text, RUNS, foreign),
        ("extra-p-jsonl", Format::Text, RUNS, foreign),
        ("hyperfine-json", Format::Text, RUNS, foreign),
        ("log-jsonl", Format::Text, RUNS, attempts),
        ("configurations-csv", Format::Text, RUNS, listed),
    ];
    all.into_iter().map(|(name, format, words, check)| reader(name, format, words, check)).collect()
}

/// What reads a text and checks what was read.
type Check = fn(&Source) -> Verdict;

/// A reader of a kind of file, whose good files lie in a folder of `corpus`, with words that go wrong in it
/// beside those that go wrong everywhere.
fn reader(name: &'static str, format: Format, words: &'static str, check: Check) -> Target {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let files = table::files_in(&folder).expect("a folder of good files");
    let text = |file: &String| Source::read(&folder.join(file)).expect("a good file").text;
    let corpus: Vec<String> = files.iter().map(text).collect();
    let seeds = corpus.clone();
    let input = move |random: &mut Random| Input::of(name, damaged(random, &seeds, format, words));
    Target { corpus, ..Target::new(name, input, move |input| check(input.first())) }
}

/// What is wrong where one of the numbers is negative or not finite.
fn first_unsound(numbers: impl IntoIterator<Item = f64>) -> Option<String> {
    let is_sound = |number: &f64| *number >= 0.0 && number.is_finite();
    let unsound = numbers.into_iter().find(|number| !is_sound(number))?;
    Some(format!("a number was read: {unsound}"))
}

fn parameters(source: &Source) -> Verdict {
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

fn formulas(source: &Source) -> Verdict {
    judged(Algorithm::read(source), source, |algorithm| {
        algorithm
            .sizes
            .iter()
            .any(|(_, size)| !size.is_finite())
            .then(|| "a size is no number".into())
    })
}

/// A machine can be read again, bears its name and has SPEs.
fn machine(source: &Source) -> Verdict {
    judged(Machine::read(source), source, |read| {
        let numbers = [read.clock.0, read.mpi.copy.0, read.mpi.collective_cost(16).0];
        if !numbers.iter().all(|number| number.is_finite() && *number >= 0.0) {
            return Some(format!("a number was read: {numbers:?}"));
        }
        (read.layout.spes() == 0).then(|| "a machine without SPEs was read".into())
    })
}

fn published(source: &Source) -> Verdict {
    judged(figures::read("spu", source), source, |figures| {
        let unsound = figures.iter().find(|it| !(it.value > 0.0 && it.value.is_finite()));
        unsound.map(|figure| format!("a figure was read: {}", figure.value))
    })
}

const MACHINE_WORDS: &str = "{ value = 1, unit = \"s\", status = \"assumed\", source = \"x\" }¦\
    { value = 0, unit = \"cycle\", status = \"documented\", source = \"x\" }¦\
    base = \"qs20\"¦base = \"mine\"¦unit = \"GB/s\"¦unit = \"ns\"¦unit = \"us\"¦\
    status = \"calibrated\"¦[ppe]\n¦[spu]\n¦[mfc]\n";

fn tree(source: &Source) -> Verdict {
    let names: Vec<String> = ["a", "b", "c d", "e"].map(String::from).to_vec();
    judged(newick::read(source, &names), source, |tree| {
        if let Err(error) = tree.check() {
            return Some(format!("no tree was read: {error}"));
        }
        first_unsound(tree.branches().map(|branch| tree.branch_length(branch)))
    })
}

fn alignment(source: &Source) -> Verdict {
    judged(Alignment::read(source), source, |alignment| {
        (alignment.taxa() == 0 || alignment.sites() == 0).then(|| "nothing was read".into())
    })
}

/// Spans that end after they begin, on tracks with names, of known categories.
fn spans(source: &Source) -> Verdict {
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
fn devices(source: &Source) -> Verdict {
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

/// Terms that are read as they are written.
fn told(source: &Source) -> Verdict {
    let file = ProfilerFile::Text(source.clone());
    judged(terms(&file, Division { m: None, p: Some(2) }), source, |found| {
        let (rows, _) = found?;
        let text = csv::write(&rows);
        let again = csv::read::<TermRow>(&Source::new("terms.csv", &text));
        read_otherwise(again.map(|(rows, _)| rows), &rows, "the terms", &text)
    })
}

const PROFILER_WORDS: &str = "\"parent\":0¦\"parent\":9¦\"numCpus\":0¦\"numMpiRanks\":4000000000¦\
    \"mpi.world.size\":\"1\"¦\"elapsedTime\":1e308¦\"usefulTime\":0¦null¦-1¦\"label\":\"\"¦\
    \"label\":\"MPI_Ibcast\"¦\"sec\"¦[1,2,3]";

const TRACE_WORDS: &str = "\"ph\":\"X\"¦\"ph\":\"M\"¦\"dur\":-1¦\"ts\":1e18¦\"ts\":-5¦\"cat\":\"kernel\"¦\
    \"cat\":\"offload\"¦\"correlation\": 5¦\"device\": 1¦\"pid\":18446744073709551615¦\
    {\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":\"a\",\"cat\":\"b\"},";

/// Reads all rows, and again as they are written.
fn rows<R: Record + PartialEq>(source: &Source) -> Verdict {
    judged(csv::read::<R>(source), source, |(rows, warnings)| {
        warnings.iter().for_each(|warning| drop(warning.to_string()));
        let is_time: Vec<bool> = R::COLUMNS.iter().map(|it| it.ends_with("_s")).collect();
        let times = rows.iter().flat_map(|row| {
            let fields = row.write().into_iter().zip(&is_time);
            let times = fields.filter(|(_, is_time)| **is_time).map(|(field, _)| field);
            times.collect::<Vec<_>>()
        });
        // A time that is not known is empty. What a release costs may be less than nothing.
        let may_be_negative = R::COLUMNS.contains(&"release_s");
        let times = times.filter(|field| !field.is_empty());
        let times: Vec<f64> = times.map(|field| field.parse().unwrap_or(f64::NAN)).collect();
        let unsound = first_unsound(
            times.into_iter().map(|time| if may_be_negative { time.abs() } else { time }),
        );
        unsound.or_else(|| {
            let written = csv::write(&rows);
            let again = csv::read::<R>(&Source::new("written.csv", &written));
            read_otherwise(again.map(|(again, _)| again), &rows, "what is written", &written)
        })
    })
}

/// The two readers of runs agree, on rows and on messages: a quote, in a comment for that matter, keeps the
/// fast one away.
fn timed_runs(source: &Source) -> Verdict {
    let read = |text: &str| intake::runs(&Source::new(&source.name, text), &Claims::default());
    // Of a last line that is not ended, both would know another part.
    let text = format!("{}\n", source.text.trim_end());
    let (fast, general) = (read(&text), read(&format!("{text}# \"")));
    match (&fast, &general) {
        // Neither is read fast; a quote that is not closed would hold the comment, and JSON has none. A mark
        // of an editor's within the text is passed over where a row begins with it.
        _ if text.contains('"')
            || text
                .trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t'])
                .starts_with(['{', '['])
            || text.chars().skip(1).any(|it| it == '\u{feff}') => {}
        (Ok(rows), Ok(expected)) if rows == expected => {}
        (Err(one), Err(other)) if one.to_string() == other.to_string() => {}
        // An end of the file is elsewhere.
        (Err(one), Err(_))
            if ["found no rows", "found an empty file"]
                .iter()
                .any(|it| one.to_string().contains(it)) => {}
        _ => return Err(format!("fast and general differ: {fast:?} instead of {general:?}")),
    }
    let source = Source::new(&source.name, &text);
    judged(fast, &source, |(rows, _)| first_unsound(rows.iter().map(|run| run.time_s)))
}

/// Whole repetitions from 1, no key twice, each time finite.
fn foreign(source: &Source) -> Verdict {
    let runs = match intake::runs(source, &Claims::default()) {
        Err(error) => return refused(&error, source),
        Ok((runs, _)) => runs,
    };
    let keys: BTreeSet<_> = runs.iter().map(|run| run.key()).collect();
    if keys.len() != runs.len() || runs.is_empty() {
        return Err(format!("keys of runs: {} of {}", keys.len(), runs.len()));
    }
    if runs.iter().any(|run| run.m == 0 || run.p == 0 || run.repetition == 0) {
        return Err("m, p or a repetition is nothing".into());
    }
    first_unsound(runs.iter().map(|run| run.time_s)).map_or(Ok(Seen::Taken.into()), Err)
}

/// Attempts with times that are finite.
fn attempts(source: &Source) -> Verdict {
    judged(log::parse(source), source, |attempts| {
        first_unsound(attempts.iter().filter_map(|attempt| attempt.time_s))
    })
}

fn listed(source: &Source) -> Verdict {
    judged(configurations(source, &Columns::default()), source, |(mappings, _)| {
        mappings.is_empty().then(|| "no configuration was read".into())
    })
}
