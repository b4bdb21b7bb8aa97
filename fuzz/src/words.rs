//! What is written in one argument: models of substitution, conditions, columns, names.

use mmgp::Mapping;
use mmgp::apps::phylogeny::substitution::notation::Notation;
use mmgp::decide::{Condition, Constraints};
use mmgp::export::Target as Export;
use mmgp::intake::{self, Claims, Columns};
use mmgp::models::{published, time_model};
use mmgp::schedulers::policy_named;
use mmgp::table::Source;

use crate::mutation::{Format, damaged};
use crate::target::{Input, Random, Seen, Target, Verdict, refused};

/// The targets.
pub fn targets() -> Vec<Target> {
    vec![
        argument(
            "likelihood-model",
            &[
                "GTR{1.2,3.5,0.8,0.9,4.1,1}+F{0.3,0.22,0.18,0.3}+G4{0.5}",
                "HKY{2.5}+F{.3,.2,.2,.3}+G4{.5}",
                "JC69+G{1}",
                "hky85{1e-3}",
            ],
            "JC¦GTR¦+F¦+G4¦{¦}¦0.25,0.25,0.25,0.25¦1e-300¦1e300",
            notation,
        ),
        argument(
            "where",
            &[
                "m*p <= cores && m % 2 == 0",
                "!(m > 4) || (p & 1) == 0 and not nodes < 3",
                "-m + 2*-(p - 3)/4 != 1e3 % 7",
                "m >= 2 && m <= 8 && p == 1 || m*p == 16",
            ],
            "m¦p¦nodes¦cores¦&&¦||¦!¦==¦<=¦%¦(¦)¦-¦1e308¦0¦and¦or¦not¦min(m,p)¦max(¦log2(m)¦sqrt(p)¦\
                ceil(m/p)¦^¦**",
            condition,
        ),
        argument(
            "columns",
            &["m=ranks,p=threads,time=elapsed_ms", "time = t us , repetition=run", "m=a"],
            "m=¦p=¦time=¦repetition=¦,¦=¦_ns¦_min¦\u{b5}s¦m¦time_s",
            columns,
        ),
        argument(
            "names",
            &[
                "mgps",
                "edtlp-llp:own",
                "c-header",
                "pbpi-qs20",
                "mmgp+1/m+1/p",
                "llp-3",
                "amdahl-2",
            ],
            "edtlp¦llp¦oracle¦:¦-3¦-4294967296¦-0¦-N¦json¦usl¦refined",
            names,
        ),
    ]
}

/// An argument of the command line, which is refused with what was expected, or sane.
fn argument(
    name: &'static str,
    seeds: &'static [&'static str],
    words: &'static str,
    check: fn(&Source) -> Verdict,
) -> Target {
    let input = move |random: &mut Random| {
        if random.happens(0.3) {
            let count = 1 + random.below(12);
            let words = (0..count).map(|_| random.word(words));
            return Input::of("argument", words.collect::<Vec<_>>().join(" "));
        }
        Input::of("argument", damaged(random, seeds, Format::Text, words))
    };
    Target::new(name, input, move |input| check(input.first()))
}

/// Frequencies that add up to 1, probabilities of every branch.
fn notation(source: &Source) -> Verdict {
    let notation = match Notation::parse(source) {
        Err(error) => return refused(&error, source),
        Ok(notation) => notation,
    };
    let again = Notation::parse(source).ok();
    if again.as_ref() != Some(&notation) {
        return Err("reads otherwise the second time".into());
    }
    let model = notation.model(3);
    let text = format!("{model:?}");
    if text.contains("NaN") || text.contains("inf") {
        return Err(format!("no number in a model: {text}"));
    }
    Ok(Seen::Taken.into())
}

/// A condition chooses among configurations, each of which meets it.
fn condition(source: &Source) -> Verdict {
    let constants = [("cores".to_string(), 16.0)];
    let condition = match Condition::parse(&source.text, &constants) {
        Err(error) => return refused(&error, source),
        Ok(condition) => condition,
    };
    // It is said to the user in messages, who may give it again.
    let printed = condition.text().to_string();
    let again = Condition::parse(&printed, &constants)
        .map_err(|error| format!("does not read what it prints: {error}: {printed:?}"))?;
    let of = |condition: Condition| -> Vec<Mapping> {
        let space = Constraints::NONE.condition(condition).space(12);
        space.map(|space| space.configurations().collect()).unwrap_or_default()
    };
    if of(condition) != of(again) {
        return Err(format!("what it prints allows others: {printed:?}"));
    }
    Ok(Seen::Taken.into())
}

fn columns(source: &Source) -> Verdict {
    let _ = intake::measure_of(&source.text);
    let _ = intake::duration(&source.text, intake::Comma::Thousands);
    match source.text.parse::<Columns>() {
        Err(error) => refused(&error, source),
        Ok(columns) => {
            let table = Source::new("runs.csv", "m,p,repetition,time_s\n1,1,1,2\n");
            let read = intake::runs(&table, &Claims { columns, ..Claims::default() });
            if let Err(error) = read {
                refused(&error, &table)?;
            }
            Ok(Seen::Taken.into())
        }
    }
}

/// Names of schedulers, formats, parameter sets and means.
fn names(source: &Source) -> Verdict {
    let text = source.text.as_str();
    let parameters = published("pbpi-qs20").map_err(|error| error.to_string())?;
    let errors = [
        policy_named(text).err(),
        text.parse::<Export>().err(),
        published(text).err(),
        time_model::named(text, &parameters).err(),
    ];
    let is_known = errors.iter().any(Option::is_none);
    for error in errors.into_iter().flatten() {
        refused(&error, source)?;
    }
    Ok(if is_known { Seen::Taken } else { Seen::Refused }.into())
}
