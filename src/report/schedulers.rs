//! A page on a program under several schedulers: which is the fastest when, by how much, and where the
//! time went. All of it is said of the rows alone.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::answer::{Table, escaped};
use crate::report::provenance::Provenance;
use crate::report::template::plain;
use crate::report::{Picture, figures};
use crate::table::records::Scheduled;
use crate::units::Seconds;

/// The runs with as many workers and as many tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Place<'a> {
    /// Host processes.
    pub workers: u32,
    /// Independent tasks.
    pub tasks: u32,
    /// The runs, at least one, the fastest first; of the same time, in the order of the rows.
    pub runs: Vec<&'a Scheduled>,
}

/// More schedulers that are the fastest together are counted instead of named.
const MOST_NAMED: usize = 3;

/// The most changes of the fastest that are told place by place; more are counted.
const MOST_STRETCHES: usize = 6;

/// All places, by workers and tasks.
pub fn places(rows: &[Scheduled]) -> Vec<Place<'_>> {
    let mut places: BTreeMap<(u32, u32), Vec<&Scheduled>> = BTreeMap::new();
    for row in rows {
        places.entry((row.workers, row.tasks)).or_default().push(row);
    }
    let mut places: Vec<Place<'_>> =
        places.into_iter().map(|((workers, tasks), runs)| Place { workers, tasks, runs }).collect();
    for place in &mut places {
        place.runs.sort_by(|one, other| one.time_s.total_cmp(&other.time_s));
    }
    places
}

impl Place<'_> {
    /// How many schedulers share the least time.
    fn shared(&self) -> usize {
        self.runs.iter().take_while(|row| row.time_s == self.runs[0].time_s).count()
    }

    /// The names of the fastest; of many with the same time, their number.
    pub fn fastest(&self) -> String {
        let names: Vec<&str> =
            self.runs[..self.shared()].iter().map(|row| row.scheduler.as_str()).collect();
        match names.len() {
            many if many == self.runs.len() && many > 1 => format!("all {many} alike"),
            many if many > MOST_NAMED => format!("{many} alike"),
            _ => match names.split_last() {
                Some((last, others)) if !others.is_empty() => {
                    format!("{} and {last}", others.join(", "))
                }
                _ => names.concat(),
            },
        }
    }

    /// All others, from the fastest to the slowest, with their times over that of the fastest.
    pub fn slower(&self) -> Vec<(&str, f64)> {
        let least = self.runs[0].time_s.max(f64::MIN_POSITIVE);
        let slower = self.runs[self.shared()..].iter();
        slower.map(|row| (row.scheduler.as_str(), row.time_s / least)).collect()
    }

    /// How far a time is from the least, in words: `+3.2 %`, `2.4 times`.
    pub fn distance(ratio: f64) -> String {
        if ratio >= 2.0 { format!("{ratio:.1} times") } else { percent(100.0 * (ratio - 1.0)) }
    }

    /// The place in words that follow "with".
    fn words(&self) -> String {
        let count =
            |count: u32, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        if self.workers == self.tasks {
            let each = if self.workers == 1 { "" } else { " each" };
            return format!("{} and a task{each}", count(self.workers, "worker"));
        }
        format!("{} and {}", count(self.workers, "worker"), count(self.tasks, "task"))
    }
}

/// `+3.2 %`; what is small has more digits.
fn percent(percent: f64) -> String {
    if percent < 0.1 { format!("+{percent:.2} %") } else { format!("+{percent:.1} %") }
}

/// What follows from the rows, of which there is at least one: a sentence or two each, the answer
/// first.
pub fn findings(rows: &[Scheduled]) -> Vec<String> {
    let places = places(rows);
    let last = &places[places.len() - 1];
    let mut findings = vec![answer(&places)];
    findings.extend(widest(&places));
    if last.runs.len() > 1 {
        findings.push(cause(last));
    }
    findings
}

/// Which is the fastest where.
fn answer(places: &[Place<'_>]) -> String {
    let schedulers = places.iter().map(|place| place.runs.len()).max().unwrap_or(0);
    let fastest: Vec<String> = places.iter().map(Place::fastest).collect();
    if schedulers < 2 {
        return format!("{} ran alone: there is nothing to compare it with.", fastest[0]);
    }
    let of = format!("of {schedulers} schedulers");
    if fastest.iter().all(|name| *name == fastest[0]) {
        let where_ = match places {
            [only] => format!("with {}", only.words()),
            _ => format!("at all {} numbers of workers and tasks", places.len()),
        };
        return match places[0].shared() {
            1 => format!("{} is the fastest {of} {where_}.", fastest[0]),
            _ => format!("The fastest {of} {where_}: {}, in the same time.", fastest[0]),
        };
    }
    if let Some((what, count)) = varying(places) {
        let mut stretches: Vec<(&str, u32, u32)> = Vec::new();
        for (place, name) in places.iter().zip(&fastest) {
            match stretches.last_mut() {
                Some((last, _, until)) if *last == name => *until = count(place),
                _ => stretches.push((name, count(place), count(place))),
            }
        }
        if stretches.len() <= MOST_STRETCHES {
            let told = stretches.iter().map(|&(name, from, until)| match from == until {
                true => format!("{name} ({from})"),
                false => format!("{name} ({from} to {until})"),
            });
            let told: Vec<String> = told.collect();
            return format!("The fastest {of}, by number of {what}: {}.", told.join("; "));
        }
    }
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in &fastest {
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.sort_by_key(|it| Reverse(it.1));
    let told: Vec<String> =
        counts.iter().map(|(name, count)| format!("{name} at {count}")).collect();
    format!(
        "The fastest {of}, of {} numbers of workers and tasks: {}.",
        places.len(),
        told.join("; ")
    )
}

/// A number of a place.
type Count = fn(&Place<'_>) -> u32;

/// The one number in which places differ, where it is one.
fn varying(places: &[Place<'_>]) -> Option<(&'static str, Count)> {
    let is_of_tasks = places.iter().all(|place| place.workers == places[0].workers);
    let is_of_workers = places.iter().all(|place| place.tasks == places[0].tasks)
        || places.iter().all(|place| place.tasks == place.workers);
    if is_of_tasks {
        Some(("tasks", |place| place.tasks))
    } else if is_of_workers {
        Some(("workers", |place| place.workers))
    } else {
        None
    }
}

/// The place where schedulers are furthest apart.
fn widest(places: &[Place<'_>]) -> Option<String> {
    let slowest = |place: &Place<'_>| place.slower().last().map_or(1.0, |it| it.1);
    let widest = places.iter().max_by(|one, other| slowest(one).total_cmp(&slowest(other)))?;
    let slower = widest.slower();
    let &(name, ratio) = slower.last()?;
    let far = match ratio >= 2.0 {
        true => format!("takes {ratio:.1} times as long as"),
        false => format!("takes {:.1} % longer than", 100.0 * (ratio - 1.0)),
    };
    let fastest = &widest.runs[0].scheduler;
    Some(format!("They are furthest apart with {}: {name} {far} {fastest}.", widest.words()))
}

/// The ways in which the fastest and the slowest spend their time, and what the fastest pays.
fn cause(place: &Place<'_>) -> String {
    let (first, last) = (place.runs[0], place.runs[place.runs.len() - 1]);
    let idle = |row: &Scheduled| row.apu_idle_per_offload_us;
    let told = |row: &Scheduled| {
        format!(
            "{} leaves an APU idle for {:.1} us for each off-load, and busy for {:.1} % of the time",
            row.scheduler,
            idle(row),
            row.apu_busy_percent
        )
    };
    let by_time = place.runs.iter().map(|row| idle(row));
    let order = match by_time.is_sorted() {
        true => "By idle time of APUs the schedulers stand in the same order as by time",
        false => "By idle time of APUs the schedulers stand in another order than by time",
    };
    let others = place.runs[1..].iter().map(|row| switches(row));
    let (least, most) =
        others.fold((f64::INFINITY, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
    let others = match place.runs.len() {
        2 => format!("{most:.2} with {}", last.scheduler),
        _ => format!("{least:.2} to {most:.2} with the others"),
    };
    format!(
        "With {}, {}; {} {:.1} us and {:.1} %. {order}. Changes of process for each off-load: \
         {:.2} with {}, {others}.",
        place.words(),
        told(first),
        last.scheduler,
        idle(last),
        last.apu_busy_percent,
        switches(first),
        first.scheduler,
    )
}

/// Changes of process for each off-load.
fn switches(row: &Scheduled) -> f64 {
    row.context_switches as f64 / (row.offloads.max(1)) as f64
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Picture;
    use crate::report::provenance::Provenance;

    /// A run of 100 off-loads of 100 us on each of the workers' SPEs.
    fn row(scheduler: &str, (workers, tasks): (u32, u32), time_s: f64, switches: u64) -> Scheduled {
        let busy = 0.01 * f64::from(tasks) / f64::from(workers) / time_s;
        let offloads = 100 * u64::from(tasks);
        let turn = 1e6 * time_s * f64::from(workers) / offloads as f64;
        Scheduled {
            scheduler: scheduler.into(),
            workers,
            tasks,
            spes_per_task: 1,
            time_s,
            apu_busy_percent: 100.0 * busy,
            apu_idle_per_offload_us: turn * (1.0 - busy),
            context_switches: switches,
            offloads,
            seed: 1,
        }
    }

    /// Two schedulers that change places after two workers, and one that is always slow.
    fn rows() -> Vec<Scheduled> {
        let of = |name: &str, times: [f64; 3], switches: u64| {
            let row = |(m, time): (u32, f64)| row(name, (m, m), time, switches);
            (1..).zip(times).map(row).collect::<Vec<_>>()
        };
        let all = [
            of("kind", [0.011, 0.012, 0.016], 200),
            of("slow", [0.011, 0.03, 0.05], 3),
            of("greedy", [0.0125, 0.0121, 0.0125], 900),
        ];
        all.concat()
    }

    #[test]
    fn the_fastest_is_named_by_stretches_of_what_varies() {
        let told = findings(&rows());
        assert_eq!(
            told[0],
            "The fastest of 3 schedulers, by number of workers: kind and slow (1); kind (2); greedy (3)."
        );
        assert_eq!(
            told[1],
            "They are furthest apart with 3 workers and a task each: slow takes 4.0 times as long as \
             greedy."
        );
        let by_tasks: Vec<Scheduled> = rows()
            .into_iter()
            .map(|row| Scheduled { workers: 2, tasks: 8 * row.tasks, ..row })
            .collect();
        let expected = "The fastest of 3 schedulers, by number of tasks: kind and slow (8); kind (16); \
                        greedy (24).";
        assert_eq!(findings(&by_tasks)[0], expected);
    }

    #[test]
    fn where_workers_and_tasks_vary_places_are_counted() {
        let times = [((1, 4), [2.0, 1.0]), ((2, 4), [2.0, 1.0]), ((2, 8), [1.0, 1.01])];
        let rows: Vec<Scheduled> = times
            .iter()
            .flat_map(|&(place, [one, other])| {
                [row("one", place, one, 0), row("other", place, other, 0)]
            })
            .collect();
        assert_eq!(
            findings(&rows)[0],
            "The fastest of 2 schedulers, of 3 numbers of workers and tasks: other at 2; one at 1."
        );
        assert_eq!(
            findings(&rows[4..])[..2],
            [
                "one is the fastest of 2 schedulers with 2 workers and 8 tasks.",
                "They are furthest apart with 2 workers and 8 tasks: other takes 1.0 % longer than one."
            ]
        );
        let alike = [row("one", (1, 1), 1.0, 0), row("other", (1, 1), 1.0, 0)];
        assert_eq!(
            findings(&alike)[0],
            "The fastest of 2 schedulers with 1 worker and a task: all 2 alike, in the same time."
        );
        let alone = "one ran alone: there is nothing to compare it with.";
        assert_eq!(findings(&rows[..1]), [alone]);
    }

    #[test]
    fn the_cause_is_said_of_the_most_workers_and_never_against_the_rows() {
        let told = |rows: &[Scheduled]| findings(rows).pop().expect("a cause");
        // Of 12.5 ms three SPEs work 10 ms: 80 %, and 25 us are idle for each 100 us.
        assert_eq!(
            told(&rows()),
            "With 3 workers and a task each, greedy leaves an APU idle for 25.0 us for each \
             off-load, and busy for 80.0 % of the time; slow 400.0 us and 20.0 %. By idle time of \
             APUs the schedulers stand in the same order as by time. Changes of process for each \
             off-load: 3.00 with greedy, 0.01 to 0.67 with the others."
        );
        let mut other = rows();
        other[8].apu_idle_per_offload_us = 100.0;
        assert!(told(&other).contains("in another order than by time"), "{}", told(&other));
    }

    #[test]
    fn a_page_says_where_it_comes_from_and_how_far_it_goes_and_runs_no_script() {
        let mut rows = rows();
        rows[4].scheduler = "<b>&".into();
        let provenance = Provenance {
            command: Some("mmgp schedulers --app <i>".into()),
            seed: Some(7),
            ..Provenance::default()
        };
        let picture = Picture { title: "a < b".into(), svg: "<svg></svg>".into() };
        let html = page("x on y", &rows, (&provenance, &[picture]));
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains("<i>"));
        for expected in [
            "<td class=\"text\">&lt;b&gt;&amp; 2.5 times</td>",
            "<dt>Command</dt><dd>mmgp schedulers --app &lt;i&gt;</dd>",
            "one run on an emulated machine with the seed 7",
            // 12.1 ms are within 1 % of 12 ms.
            "within 1 % of its time at 1 of 3 numbers",
            "<figcaption>a &lt; b</figcaption>\n<svg></svg>",
            "<td>3</td><td>3</td><td class=\"text\">greedy</td><td>12.50 ms</td>\
             <td class=\"text\">kind +28.0 %</td><td class=\"text\">slow 4.0 times</td>",
        ] {
            assert!(html.contains(expected), "{expected} is not in {html}");
        }
    }
}
