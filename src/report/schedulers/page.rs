//! The page as HTML.

use super::{Place, findings, places, switches};
use crate::answer::{Table, escaped};
use crate::report::provenance::Provenance;
use crate::report::template::plain;
use crate::report::{Picture, figures};
use crate::table::records::Scheduled;
use crate::units::Seconds;

/// What is no slower than this, relative to the fastest, is named as near to it.
const NEAR: f64 = 0.01;

/// The page: the content of an HTML file without scripts, the same bytes for the same rows.
pub fn page(
    title: &str,
    rows: &[Scheduled],
    (provenance, pictures): (&Provenance, &[Picture]),
) -> String {
    let places = places(rows);
    let findings = findings(rows);
    let (answer, others) = findings.split_first().expect("invariant: there is an answer");
    let others: String = others.iter().map(|it| format!("<p>{}</p>\n", escaped(it))).collect();
    let body = format!(
        "<section id=\"answer\" aria-labelledby=\"answer-title\">\n\
         <p class=\"of\"><bdi>{}</bdi>, {}</p>\n<h1 id=\"answer-title\">{}</h1>\n{others}\
         <p class=\"note\">{}</p>\n</section>\n{}{}{}{}",
        escaped(title),
        escaped(&source(provenance)),
        escaped(answer),
        escaped(&caveat(&places, provenance)),
        section("pictures", "Pictures", &figures(pictures)),
        section("where", "Where the time went", &parts(&places[places.len() - 1])),
        section("places", "The fastest, by workers and tasks", &table_of(&places)),
        section("provenance", "Provenance", &facts(provenance)),
    );
    let sections = [
        ("answer", "Answer"),
        ("pictures", "Pictures"),
        ("where", "Where the time went"),
        ("places", "The fastest"),
        ("provenance", "Provenance"),
    ];
    plain(title, &sections, &body)
}

fn section(id: &str, heading: &str, body: &str) -> String {
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{heading}\
         </h2>\n{body}</section>\n"
    )
}

/// The seed and the machine.
fn source(provenance: &Provenance) -> String {
    let machine = provenance.machine.as_ref().map(|machine| machine.description.clone());
    let seed = provenance.seed.map(|seed| format!("seed {seed}"));
    machine.into_iter().chain(seed).collect::<Vec<_>>().join(", ")
}

/// How far the findings go.
fn caveat(places: &[Place<'_>], provenance: &Provenance) -> String {
    let is_near = |place: &&Place<'_>| place.slower().iter().any(|it| it.1 <= 1.0 + NEAR);
    let near = places.iter().filter(is_near).count();
    let seed = provenance.seed.map_or_else(|| "one seed".into(), |seed| format!("the seed {seed}"));
    format!(
        "Every row is one run on an emulated machine with {seed}: nothing here says how far another \
         input, seed or machine would move it. The fastest has another within {} % of its time at \
         {near} of {} numbers of workers and tasks.",
        100.0 * NEAR,
        places.len()
    )
}

/// Which is the fastest at each place, and how far the next and the slowest are.
fn table_of(places: &[Place<'_>]) -> String {
    let told = |it: Option<&(&str, f64)>| {
        it.map_or_else(|| "–".into(), |(name, far)| format!("{name} {}", Place::distance(*far)))
    };
    Table::of(places)
        .people("workers", |place| place.workers.to_string())
        .people("tasks", |place| place.tasks.to_string())
        .people("fastest", |place| place.fastest())
        .left()
        .people("time", |place| Seconds(place.runs[0].time_s).to_string())
        .people("next", |place| told(place.slower().first()))
        .left()
        .people("slowest", |place| told(place.slower().last()))
        .left()
        .people(format!("within {} %", 100.0 * NEAR), |place| {
            let slower = place.slower();
            let near = slower.iter().filter(|it| it.1 <= 1.0 + NEAR);
            let near: Vec<&str> = near.map(|it| it.0).collect();
            if near.is_empty() { "–".into() } else { near.join(", ") }
        })
        .left()
        .html("the fastest by workers and tasks")
}

/// The parts of the time at a place, by scheduler, the fastest first.
fn parts(place: &Place<'_>) -> String {
    let least = place.runs[0].time_s.max(f64::MIN_POSITIVE);
    let table = Table::of(&place.runs)
        .people("scheduler", |row| row.scheduler.clone())
        .left()
        .people("time", |row| Seconds(row.time_s).to_string())
        .people("over the fastest", |row| format!("{:.3}", row.time_s / least))
        .people("APUs busy [%]", |row| format!("{:.1}", row.apu_busy_percent))
        .people("APU idle for each off-load [us]", |row| {
            format!("{:.2}", row.apu_idle_per_offload_us)
        })
        .people("off-loads", |row| row.offloads.to_string())
        .people("changes of process", |row| row.context_switches.to_string())
        .people("for each off-load", |row| format!("{:.2}", switches(row)))
        .html("where the time went");
    format!("<p class=\"note\">With {}.</p>\n{table}", place.words())
}

/// What is needed to do it again.
fn facts(provenance: &Provenance) -> String {
    let machine = provenance.machine.as_ref();
    let machine = machine.map(|machine| format!("{}: {}", machine.name, machine.description));
    let facts = [
        ("Command", provenance.command.clone()),
        ("Version", provenance.version.clone()),
        ("Application", provenance.application.clone()),
        ("Machine", machine),
        ("Seed", provenance.seed.map(|seed| seed.to_string())),
    ];
    let facts = facts.into_iter().filter_map(|(term, text)| Some((term.to_string(), text?)));
    let files = provenance.inputs.iter().map(|file| {
        let text = format!("{}, {} bytes, SHA-256 {}", file.file, file.bytes, file.sha256);
        (format!("Input ({})", file.role), text)
    });
    let fact = |(term, text): (String, String)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&term), escaped(&text))
    };
    let facts: String = facts.chain(files).map(fact).collect();
    format!("<dl class=\"facts wide\">\n{facts}</dl>\n")
}
