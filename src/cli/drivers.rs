//! `mmgp ask` and `mmgp tell`, for drivers of the user's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use super::files::Guard;
use super::input::ClaimArguments;
use super::objective::{amount, configuration};
use super::output::{data, json, line, warn};
use super::tune::{
    Declaration, DeclareArguments, FOLDER, Request, Requests, SearchArguments, Session, TypedFlags,
    declaration, duration, keep_declaration, of_drivers, repair, why,
};
use super::{Answer, Invocation};
use crate::Mapping;
use crate::answer::Object;
use crate::attempt::{Attempt, Order, Status};
use crate::error::{Error, Result};
use crate::intake::{Measurand, Outcome};
use crate::launch;
use crate::quantity::Quantity;
use crate::table::log::LARGEST_ID;
use crate::table::{self, Source};
use crate::tune::derived;
use crate::tune::engine::{self, Discipline, End};
use crate::units::Seconds;

/// Say what to run next, as JSON, for a driver of your own
#[derive(Args)]
#[command(after_help = ASK_HELP)]
pub struct AskArguments {
    /// So many runs at most
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Name of the driver that asks, where several do at once: what is handed out is reserved for it,
    /// and the same again until that is told
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
    #[command(flatten)]
    declare: DeclareArguments,
    #[command(flatten)]
    search: SearchArguments,
}

const ASK_HELP: &str = "\
Examples:
  mmgp ask --m 1..64*2 --p 1,2,4,8 --out tune
  mmgp ask --m 1..64*2 --p 1,2,4,8 --until-regret 5% --out tune --count 3

What came of a run is told by `mmgp tell --out tune --m 8 --p 4 --time 12.5`. Asks and answers go by \
one log, DIR/log.jsonl, and are those of `mmgp tune`. Prints {\"runs\": [{\"id\", \
\"m\", \"p\", ...}], \"best\": [m, p], \"time_s\", \"expected_regret\", \"regret_95\", \"settled\", \"done\"}: run what it says, tell what \
came of it, and ask again, until \"done\" is true: nothing is left to run, and \"why\" says settled, alike (what cannot be told apart), runs or exhausted. Asked again without being told anything, it says \
the same. Several drivers at once each give a name, --worker; where every run that is worth making is in the \
hands of others, \"waiting\" counts these and \"runs\" is empty: ask again later.";

/// A run that is asked for.
fn run_object(request: &Request) -> Result<Object> {
    let Request { id, nodes, params, repetition, .. } = request;
    let params = (!params.is_empty()).then(|| Object::from_iter(params.clone()));
    Ok(Object::new()
        .with("id", *id)
        .followed_by(configuration(request.mapping()?))
        .with("nodes", *nodes)
        .with_some("params", params)
        .with("repetition", *repetition))
}

/// The runs to hand out: those that the driver has already, then of `orders` what nobody has, so many in
/// all; and how many others have in hand.
fn handed_out(
    requests: &Requests,
    orders: &[(Mapping, Order)],
    worker: Option<&str>,
    count: usize,
) -> (Vec<Request>, Vec<Request>) {
    let known: Vec<Request> = requests.of_worker(worker).take(count).cloned().collect();
    let free = orders.iter().filter(|(mapping, order)| !requests.has(*mapping, &order.factors));
    let logged = orders.first().map_or(0, |(_, order)| order.id - 1);
    let further = free.zip(requests.free_id(logged)..).map(|((mapping, order), id)| {
        Request::new(&(*mapping, Order { id, ..order.clone() }), worker)
    });
    let further = further.take(count - known.len()).collect();
    (known, further)
}

/// Prints what to run next.
pub fn ask(arguments: &AskArguments, invocation: &Invocation) -> Result<Answer> {
    let mut warnings = Vec::new();
    arguments.declare.guarded(Guard::default()).check()?;
    let declared = arguments.declare.declared(&mut warnings)?;
    warn(&warnings);
    let folder = &arguments.search.out;
    if arguments.search.repair {
        repair(folder)?;
    }
    let worker = arguments.worker.as_deref();
    // What is reserved is written down before another driver asks.
    let session = worker.map(|_| Session::open_when_free(folder)).transpose()?;
    let attempts = match &session {
        Some(session) => session.log.attempts().to_vec(),
        None => of_drivers(folder)?,
    };
    table::create_folder(folder)?;
    keep_declaration(folder, &TypedFlags::typed(invocation), &declared)?;
    let quantity = match attempts.is_empty() {
        true => arguments.search.best.quantity()?,
        false => derived::quantity(&attempts),
    };
    let plan = arguments.search.plan(&declared, &quantity, None)?;
    let discipline = Discipline::new(0, None, declared.nodes.clone());
    let (orders, verdict) = engine::ask(&plan, &attempts, &discipline)?;
    let mut requests = Requests::read(folder, attempts.iter().map(|it| it.id))?;
    let (mut runs, further) = handed_out(&requests, &orders, worker, arguments.count as usize);
    runs.extend(further.iter().cloned());
    let waiting = requests.all().iter().filter(|it| it.worker.is_some() && !runs.contains(it));
    let waiting = (runs.is_empty() && !orders.is_empty()).then(|| waiting.count());
    if session.is_some() && !further.is_empty() {
        requests.add(further)?;
    }
    let objective = &plan.search.objective;
    let choice = verdict.choice.zip(verdict.time);
    let params = verdict.choice.map(|it| plan.factors(it)).filter(|it| !it.is_empty());
    let answer = Object::new()
        .with("runs", runs.iter().map(run_object).collect::<Result<Vec<_>>>()?)
        .with_some("waiting", waiting)
        .with("best", verdict.choice.map(|it| [it.mapping.m(), it.mapping.p()]))
        .with_some("params", params.map(|it| Object::from_iter(it.clone())))
        .followed_by(amount(objective, choice.map(|(site, time)| (site.mapping, time))))
        .with("expected_regret", verdict.expected_regret)
        .with("regret_95", verdict.regret_95)
        .with("settled", verdict.end.is_some_and(|end| end != End::Runs))
        .with("done", orders.is_empty())
        .with_some("why", orders.is_empty().then(|| why(verdict.end.unwrap_or(End::Exhausted))));
    data(None, &json(&answer))?;
    Ok(Answer::Done)
}

/// Tell what came of a run that `mmgp ask` asked for, or of any other
#[derive(Args)]
#[command(after_help = TELL_HELP)]
pub struct TellArguments {
    /// Folder of the log
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    out: PathBuf,
    /// Processes
    #[arg(long, required_unless_present = "results")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    m: Option<u32>,
    /// Threads or accelerators of each
    #[arg(long, required_unless_present = "results")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    p: Option<u32>,
    /// A further factor that it ran with; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = factor, conflicts_with = "results")]
    param: Vec<(String, String)>,
    /// The id that it was asked for with; each is told once
    #[arg(long, value_name = "N", conflicts_with = "results")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=LARGEST_ID))]
    id: Option<u64>,
    #[command(flatten)]
    found: OutcomeArguments,
    /// What is measured where that is no time, as ask has it: joules, 'max score'. Of --results a
    /// column, or an expression over columns
    #[arg(long, value_name = "WHAT")]
    objective: Option<String>,
    #[command(flatten)]
    said: ClaimArguments,
    /// Take damaged lines out of the log first, and say which; a copy of it stays
    #[arg(long)]
    repair: bool,
}

/// What came of a run.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct OutcomeArguments {
    /// It took this: seconds, or 90ms, 2m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Seconds>,
    /// What it measured instead, of what --objective names: a number above 0
    #[arg(long, value_name = "NUMBER", value_parser = positive, requires = "objective")]
    value: Option<f64>,
    /// It failed, for this reason: it is not to be chosen
    #[arg(long, value_name = "REASON")]
    failed: Option<String>,
    /// It was stopped after this: it takes longer
    #[arg(long, value_name = "TIME", value_parser = duration)]
    above: Option<Seconds>,
    /// What another engine wrote of the runs of --emit: the tasks of HyperQueue as JSON, a job log of
    /// GNU parallel, a table in any form that `mmgp look` understands, with a column id where there
    /// are ids; what was told before is passed over
    #[arg(long, value_name = "FILE", conflicts_with_all = ["m", "p"])]
    results: Option<PathBuf>,
}

const TELL_HELP: &str = "\
Examples:
  mmgp tell --out tune --m 8 --p 4 --time 12.5
  mmgp tell --out tune --m 8 --p 4 --objective joules --value 532
  mmgp tell --out tune --m 64 --p 1 --failed 'out of memory'
  mmgp tell --out tune --m 1 --p 1 --above 10m
  mmgp tell --out tune --results tune/results.csv";

/// Writes down what came of runs.
pub fn tell(arguments: &TellArguments) -> Result<Answer> {
    if arguments.repair {
        repair(&arguments.out)?;
    }
    let mut session = Session::open_when_free(&arguments.out)?;
    if let Some(results) = &arguments.found.results {
        return collect(arguments, results, &mut session);
    }
    let (Some(m), Some(p)) = (arguments.m, arguments.p) else {
        return Ok(Answer::Done);
    };
    let mapping = Mapping::new(m, p)?;
    let params = arguments.param.iter().cloned().collect();
    let requests = Requests::of(&arguments.out, &session)?;
    let id = arguments.id.unwrap_or_else(|| next_id(&session, &requests));
    check_is_declared(&arguments.out, &declared_in(&arguments.out)?, mapping, &params)?;
    let asked = requests.with_id(id).filter(|it| (it.m, it.p) != (m, p) || it.params != params);
    if let Some(asked) = asked {
        return Err(Error::out_of_range(
            "--id",
            format!("{id} of {mapping}"),
            format!("{}, for which it was asked, or no --id", asked.mapping()?),
        ));
    }
    if was_told(&session, id) {
        return Err(Error::out_of_range(
            "--id",
            format!("{id}, of which was told before"),
            "one of which was not",
        ));
    }
    let found = &arguments.found;
    let quantity = match (&arguments.objective, found.value) {
        (Some(objective), Some(_)) if Measurand::is_needed(objective) => {
            Measurand::quantity_of(objective)?
        }
        (Some(objective), Some(_)) => {
            return Err(Error::out_of_range(
                "--objective",
                format!("{objective}, which follows from the time"),
                "--time TIME of the run; ask takes this objective",
            ));
        }
        _ => Quantity::Time,
    };
    let time = found.time.map(|it| it.0);
    let time = time.or(found.value.map(|value| quantity.direction().as_time(value)));
    let outcome = match (&found.failed, found.above, time) {
        (Some(why), ..) => Outcome::Failed { why: why.clone(), exit: None },
        (None, Some(above), _) => Outcome::Longer(above.0),
        (None, None, Some(time)) => Outcome::Time(time),
        // The flags ask for one of them.
        (None, None, None) => return Ok(Answer::Done),
    };
    let attempt = Attempt { params, ..Attempt::new(id, m, p, Status::Ok) };
    append(&mut session, attempt, outcome, quantity)?;
    Ok(Answer::Done)
}

fn next_id(session: &Session, requests: &Requests) -> u64 {
    requests.free_id(session.log.attempts().iter().map(|it| it.id).max().unwrap_or(0))
}

/// What was declared in a folder, where something was.
fn declared_in(folder: &Path) -> Result<Option<Declaration>> {
    let Some(arguments) = declaration(folder)? else { return Ok(None) };
    Ok(Some(arguments.searched(&[])?.0))
}

/// Refuses a run of what was not declared in a folder where something was.
fn check_is_declared(
    folder: &Path,
    declared: &Option<Declaration>,
    mapping: Mapping,
    params: &BTreeMap<String, String>,
) -> Result<()> {
    let Some(declared) = declared else { return Ok(()) };
    let factors = |of: &BTreeMap<String, String>| -> String {
        of.iter().map(|(name, value)| format!(" {name}={value}")).collect()
    };
    if !declared.levels.contains(params) {
        let known: Vec<String> = declared.levels.iter().map(factors).collect();
        let known = known.join(" or");
        return Err(Error::out_of_range(
            "--param",
            if params.is_empty() { "none".into() } else { factors(params).trim().to_string() },
            if known.is_empty() { "none, as declared".into() } else { known.trim().to_string() },
        ));
    }
    if declared.space.contains(&mapping) {
        return Ok(());
    }
    Err(Error::out_of_range(
        "--m and --p",
        format!("{mapping}, which was not declared"),
        format!(
            "one of configurations.csv in {}, or ask with more of them first",
            folder.display()
        ),
    ))
}

fn was_told(session: &Session, id: u64) -> bool {
    session.log.attempts().iter().any(|it| it.id == id)
}

/// Writes what came of a run whose configuration an attempt has.
fn append(session: &mut Session, of: Attempt, outcome: Outcome, quantity: Quantity) -> Result<()> {
    let is_same = |it: &&Attempt| (it.m, it.p) == (of.m, of.p) && it.params == of.params;
    let repetition = session.log.attempts().iter().filter(is_same).count() as u32 + 1;
    let attempt = Attempt { repetition, time_source: "told".into(), ..of };
    let attempt = match outcome {
        Outcome::Time(time_s) => {
            let wall_s = quantity.is_time().then_some(time_s);
            let mut attempt = Attempt { status: Status::Ok, wall_s, exit: Some(0), ..attempt };
            attempt.measured(Seconds(time_s), quantity);
            attempt
        }
        Outcome::Longer(bound) => Attempt {
            status: Status::Timeout,
            wall_s: Some(bound),
            reason: Some(format!("stopped after {}", Seconds(bound))),
            ..attempt
        },
        Outcome::Failed { why, exit } => {
            Attempt { status: Status::Failed, reason: Some(why), exit, ..attempt }
        }
    };
    session.log.append(attempt)
}

/// Tells all that another engine wrote and nobody told yet.
fn collect(arguments: &TellArguments, results: &Path, session: &mut Session) -> Result<Answer> {
    let folder = &arguments.out;
    let source = Source::read_any(results)?;
    let requests = Requests::of(folder, session)?;
    let mut known = 0;
    let mut claims = arguments.said.claims();
    claims.objective = arguments.objective.clone();
    // Of a file with what was not declared nothing is told.
    let (declared, mut told) = (declared_in(folder)?, Vec::new());
    for result in launch::results::read(&source, &claims)? {
        if result.id.is_some_and(|id| was_told(session, id)) {
            known += 1;
            continue;
        }
        let asked = result.id.and_then(|id| requests.with_id(id));
        let of_asked = asked.map(Request::mapping).transpose()?;
        let Some(mapping) = result.mapping.or(of_asked) else {
            return Err(Error::out_of_range(
                "--results",
                format!("{}, with ids that were not asked in this folder", source.name),
                "what came of the runs of --emit with the same --out",
            ));
        };
        let (nodes, params) =
            asked.map_or((1, BTreeMap::new()), |it| (it.nodes, it.params.clone()));
        check_is_declared(folder, &declared, mapping, &params)?;
        told.push((mapping, nodes, params, result));
    }
    let count = told.len();
    for (mapping, nodes, params, result) in told {
        let id = result.id.unwrap_or_else(|| next_id(session, &requests));
        let attempt = Attempt::new(id, mapping.m(), mapping.p(), Status::Ok);
        append(session, Attempt { nodes, params, ..attempt }, result.outcome, result.quantity)?;
    }
    line(&format!("{count} runs were told, {known} were known"));
    Ok(Answer::Done)
}

fn positive(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|it| *it > 0.0 && it.is_finite());
    number.ok_or_else(|| format!("{text:?} is no number above 0"))
}

fn factor(text: &str) -> std::result::Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.map(|(name, value)| (name.into(), value.into()))
        .ok_or_else(|| "expected NAME=VALUE".into())
}
