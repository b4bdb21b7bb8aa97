//! `tune --probe`: the first runs are traced, and what they tell is where the search begins.

use std::path::{Path, PathBuf};

use super::Job;
use super::job::Made;
use crate::Mapping;
use crate::attempt::Status;
use crate::cli::output::{Verbosity, warn};
use crate::error::{Error, Result, Warning};
use crate::fit::{FileRows, Inputs, Settings, fit};
use crate::native::host;
use crate::probe::{self, Library};
use crate::table::records::TermRow;
use crate::table::{self, Source, csv};
use crate::tune::engine::{self, Budget, Cell, Plan};

/// What the traced runs of a folder tell.
const TERMS: &str = "terms.csv";

/// Where ranks write while they run.
const TRACES: &str = "traces";

/// What was traced in a folder; `None` where nothing was.
///
/// # Errors
/// The errors of reading it.
pub fn terms(folder: &Path) -> Result<Option<FileRows<TermRow>>> {
    let path = folder.join(TERMS);
    if !path.exists() {
        return Ok(None);
    }
    Ok(Some(FileRows::read(&Source::read(&path)?)?.0))
}

/// A search that begins with what the traced runs of its folder tell; the same where they do not.
///
/// # Errors
/// The errors of reading terms.csv, and of a fit.
pub fn knowing(mut plan: Plan, folder: &Path) -> Result<Plan> {
    let Some(terms) = terms(folder)? else { return Ok(plan) };
    let search = &mut plan.search;
    let apus = search.space.iter().map(|it| it.mapping.apus()).max().unwrap_or(1);
    let settings =
        Settings::new("traced", search.prior.decomposition(), apus.try_into().unwrap_or(u32::MAX));
    let inputs = Inputs { terms: Some(terms), ..Inputs::default() };
    // Not the whole times: the program's own may leave out what a rank does beside it, and the search times it.
    let parameters = fit(&inputs, &settings)?.parameters;
    search.prior = search.prior.clone().with_files(&parameters);
    Ok(plan)
}

impl Job {
    /// Makes the runs that tell most, traced, where the folder does not have them; how they ended.
    ///
    /// # Errors
    /// Where the library cannot be compiled, and those of the target and of the log. What cannot be seen into is
    /// a warning: the search goes on without.
    pub fn trace(&mut self, budget: Budget, verbosity: Verbosity) -> Result<Option<Made>> {
        if self.folder.join(TERMS).exists() {
            return Ok(None);
        }
        let library = Library::for_command(&self.settings.command.argv, None)?;
        let search = &self.plan.search;
        let space: Vec<Mapping> = search.space.iter().map(|it| it.mapping).collect();
        let cores = search.processors.map_or(host::cores() as u64, u64::from);
        let mappings = first(&space, cores)?;
        let traces = self.folder.join(TRACES);
        let of = |it: &Mapping| traces.join(format!("{}x{}", it.m(), it.p()));
        mappings.iter().try_for_each(|it| table::create_folder(&of(it)))?;
        let as_asked = self.settings.command.env.clone();
        let env = probe::environment(&library, &traces.join("{m}x{p}"))?;
        self.settings.command.env.extend(env);
        let cell = |&mapping: &Mapping| Cell {
            factors: self.plan.levels[0].clone(),
            mapping,
            repetition: 1,
        };
        let cells: Vec<Cell> = mappings.iter().map(cell).collect();
        let made = self.make(budget, verbosity, |target, log, watch| {
            engine::measure(target, log, &cells, &self.discipline, budget, watch)
        });
        self.settings.command.env = as_asked;
        let made = made?;
        // What failed is told by the search.
        if made.attempts().iter().filter(|it| it.status == Status::Ok).count() >= mappings.len() {
            let runs: Vec<(Mapping, PathBuf)> = mappings.iter().map(|it| (*it, of(it))).collect();
            let kept = self.keep(&runs);
            let without = |why| Warning::Probed(format!("without a trace: {why}"));
            warn(&kept.err().map(without).into_iter().collect::<Vec<_>>());
        }
        table::remove_folder(&traces)?;
        Ok(Some(made))
    }

    /// Writes what ranks of the traced runs saw.
    fn keep(&self, runs: &[(Mapping, PathBuf)]) -> Result<()> {
        let mut rows = Vec::new();
        for ((mapping, folder), name) in runs.iter().zip(1..) {
            let program = &self.settings.command.argv[0];
            let traced = probe::read(folder, program)?;
            warn(&traced.warnings());
            traced.check(*mapping, program)?;
            rows.extend(probe::terms(&traced, &i32::to_string(&name)));
        }
        table::write(&self.folder.join(TERMS), csv::write(&rows))
    }
}

/// One rank of one thread, and a configuration inside that the processors hold, the most even of those that fill them;
/// where there is none, one along each side.
///
/// # Errors
/// [`Error::OutOfRange`] where there are no such two.
pub fn first(space: &[Mapping], cores: u64) -> Result<Vec<Mapping>> {
    let one = Mapping::SEQUENTIAL;
    let best = |is_of: &dyn Fn(&Mapping) -> bool| {
        let among = space.iter().copied().filter(|it| *it != one && is_of(it));
        among.max_by_key(|it| (it.apus() <= cores, it.m().min(it.p()), it.apus().min(cores)))
    };
    let inside = best(&|it| it.m() > 1 && it.p() > 1 && it.apus() <= cores);
    let sides = || [best(&|it| it.p() == 1), best(&|it| it.m() == 1)].into_iter().flatten();
    let mut mappings: Vec<Mapping> = inside.map_or_else(|| sides().collect(), |it| vec![it]);
    mappings.insert(0, one);
    if mappings.len() > 1 && space.contains(&one) {
        return Ok(mappings);
    }
    let expected = "(1, 1) and another among the configurations: --m and --p that begin with 1";
    Err(Error::out_of_range("--probe", "a space without", expected))
}
