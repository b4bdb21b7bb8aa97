//! What is written of parameters: files that are read back as the same, exports, the page.

use mmgp::Mapping;
use mmgp::decide::Sampling;
use mmgp::error::Error;
use mmgp::export::Target as Export;
use mmgp::models::Parameters;
use mmgp::models::terms::Term;
use mmgp::report::{Study, page};
use mmgp::table::Source;

use crate::target::read_otherwise;

/// Numbers are finite, a slowdown slows down, and every format holds the same.
pub fn check(parameters: &Parameters) -> Result<(), String> {
    numbers(parameters)?;
    let text = parameters.to_toml();
    let again = Parameters::read(&Source::new("x.toml", &text));
    if let Some(wrong) = read_otherwise(again, parameters, "x.toml", &text) {
        return Err(wrong);
    }
    let text = Export::Json.write(parameters);
    let read = serde_json::from_str::<serde_json::Value>(&text);
    read.map_err(|error| format!("no JSON is written: {error}: {text:?}"))?;
    for &target in Export::ALL {
        let text = target.write(parameters);
        if !text.ends_with('\n') {
            return Err(format!("{} does not end its last line", target.name()));
        }
        // What a model of StarPU does not know is `nan` there.
        if target != Export::StarPu {
            no_odd_numbers(&text, target.name())?;
        }
    }
    Ok(())
}

fn numbers(parameters: &Parameters) -> Result<(), String> {
    let terms = &parameters.terms;
    for entry in terms.entries() {
        let name = terms.name_of(entry);
        let Some(estimate) = terms.estimate(entry) else {
            return Err(format!("no estimate of an entry: {name}"));
        };
        let least = if entry.term == Term::Alpha { 1.0 } else { 0.0 };
        let numbers = [Some(estimate.value), estimate.std_error, estimate.degrees_of_freedom];
        let is_sound = estimate.value >= least && numbers.iter().flatten().all(|it| it.is_finite());
        let interval = estimate.interval();
        let holds = interval.is_none_or(|(low, high)| {
            low <= estimate.value && estimate.value <= high && high.is_finite()
        });
        if !(is_sound && holds) {
            return Err(format!("a term that is no number: {name}: {estimate:?}, {interval:?}"));
        }
    }
    for (m, p) in [(1, 1), (2, 1), (1, 2), (4, 4), (16, 1), (100, 3)] {
        let mapping = Mapping::of(m, p);
        let (time, refined) = (parameters.time(mapping).0, parameters.refined_time(mapping).0);
        let error = parameters.propagated(&parameters.gradient(mapping)).value;
        if ![time, refined, error].iter().all(|it| it.is_finite() && *it >= 0.0) {
            return Err(format!("a time that is none: {mapping}: {time}, {refined} +- {error}"));
        }
    }
    Ok(())
}

/// Words of a text that a number becomes where it is none.
pub fn no_odd_numbers(text: &str, of: &str) -> Result<(), String> {
    let is_odd = |word: &&str| {
        let word = word.trim_start_matches(['+', '-']);
        ["inf", "NaN", "nan", "Infinity", "inff64", "NaNf64"].contains(&word)
    };
    let ends = [' ', '\n', ',', ';', '(', ')', '=', '"', '{', '}', '[', ']', '|', '&', ':'];
    let Some(word) = text.split(ends).find(is_odd) else { return Ok(()) };
    let at = text.find(word).unwrap_or(0);
    let from = text.floor_char_boundary(at.saturating_sub(100));
    let to = text.ceil_char_boundary((at + 50).min(text.len()));
    Err(format!("no number in {of}: {:?}", &text[from..to]))
}

/// The page holds its data as JSON that can be read, without anything that is no number.
pub fn check_page(parameters: &Parameters) -> Result<(), String> {
    let study = Study { sampling: Sampling::new(100, 1), ..Study::new(parameters.clone()) };
    let html = match page(&study) {
        Ok(html) => html,
        // All that was timed asks for more APUs than the user says there are.
        Err(Error::NothingFeasible { .. }) => return Ok(()),
        Err(error) => return Err(format!("no page of what was fitted: {error}")),
    };
    let data = data_of(&html)?;
    // serde_json writes what is no number as null.
    let columns = &data["configurations"];
    for name in ["time_s", "low_s", "high_s", "speedup", "expected_regret_s", "regret_95_s"] {
        let column = columns[name].as_array().ok_or_else(|| format!("no column {name}"))?;
        if let Some(place) = column.iter().position(|it| !it.is_number()) {
            let (m, p) = (&columns["m"][place], &columns["p"][place]);
            return Err(format!("no number in the page's column {name}: at ({m}, {p})"));
        }
    }
    Ok(())
}

/// What a page tells its script.
pub fn data_of(html: &str) -> Result<serde_json::Value, String> {
    let begin = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = html.split_once(begin).ok_or("no data in the page")?;
    let (data, _) = rest.split_once("</script>").ok_or("no end of the data in the page")?;
    serde_json::from_str(data).map_err(|error| format!("the page's data are no JSON: {error}"))
}
