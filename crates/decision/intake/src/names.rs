//! The names that people give to the columns of a table of timed runs, and words beside numbers that say what
//! these count: `8 ranks`, `mpi8_omp4`, `OMP=4 MPI=8`, `ranks x threads`.
//!
//! A dictionary, not a guess: what is not in it has no role, and is asked about where it matters.

use crate::is_in;
use crate::units::{Measure, measure_of};

/// What a column is for, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Host threads or processes: m.
    Processes,
    /// Accelerators or threads of each: p.
    Threads,
    /// Processes and all their threads: m*p. Whether it is of one process or of all, its name leaves open.
    Cores,
    /// Cores of all processes for certain.
    AllCores,
    /// Nodes in use.
    Nodes,
    /// Processes on each node.
    ProcessesPerNode,
    /// Which repetition of the same run.
    Repetition,
    /// The standard deviation of these.
    Deviation,
    /// The unit of the time in the same row.
    Unit,
    /// An exit code: 0 is good.
    ExitCode,
    /// True where a run was good.
    Success,
    /// True, or a text, where it was not.
    Failure,
    /// A word for how a run ended.
    Status,
    /// When, where and by whom: differs from run to run and says nothing of the program.
    Circumstance,
}

const PROCESSES: &str = "m np nprocs nproc numprocs numproc procs processes process nprocesses \
    numprocesses ranks rankcount nranks numranks mpiranks mpirank mpiprocs mpiproc mpiprocesses mpinp \
    mpisize worldsize commsize mpiworldsize mpitasks ntasks numtasks tasks workers nworkers numworkers \
    replicas npes pes slurmntasks hostthreads hputhreads mpi prozesse prozessanzahl procesos processos processi ntmpi \u{8fdb}\u{7a0b}\u{6570} \u{8fdb}\u{7a0b} \u{9032}\u{7a0b}\u{6578} processus \
    numberofprocesses numberofranks numberofmpiranks numberoftasks numberofmpiprocesses mpinumranks \
    nummpiranks nmpi nummpi mpiprocesscount processcount numworkerprocesses";

const THREADS: &str = "p threads thread nthreads nthread numthreads numthread ompnumthreads ompthreads \
    nompthreads numompthreads omp nomp numomp openmpthreads openmp threadsperrank threadsperprocess \
    threadspertask threadsperproc threadspermpi threadspermpirank threadspermpiprocess threadspermpitask threadsperworker ompthreadsperrank \
    cpuspertask numcpuspertask slurmcpuspertask corespertask coresperrank coresperprocess cpusperrank \
    threadcount apus apusperprocess accelerators acceleratorsperprocess spes spesperprocess gpusperrank \
    gpuspertask gpusperprocess devicesperrank tpr mklnumthreads numberofthreads hilos fils ntomp fili threadsporprocesso threadsporproceso hilosporproceso \u{7ebf}\u{7a0b}\u{6570} \u{7ebf}\u{7a0b} \u{57f7}\u{884c}\u{7dd2}\u{6578} \
    numberofompthreads numberofopenmpthreads numthreadsperrank nthreadsperrank juliathreads nt nthr thr nthrd intraopthreads intraop njobs \
    julianumthreads rayonnumthreads numworkerthreads";

const CORES: &str = "cores ncores numcores cpus ncpus numcpus corecount kerne pus";

const ALL_CORES: &str = "totalcores totalcpus alloccpus allcores totalthreads allthreads corestotal \
    cpustotal threadstotal ncorestotal totalnumcores reqcpus slurmjobcpus";

const NODES: &str = "nodes nnodes numnodes nodecount slurmnnodes slurmjobnumnodes allocnodes \
    numberofnodes knoten nodos";

const PROCESSES_PER_NODE: &str = "rankspernode ppn processespernode procspernode ntaskspernode \
    taskspernode rpn mpipernode nprocspernode numtaskspernode mpirankspernode ranksnode tpn";

const REPETITIONS: &str = "repetition rep reps repeat repetitions iteration iter run runid runno runnumber \
    runindex runidx trial trialno attempt try versuch sample sampleindex replicate replication repindex repid \
    repetitionindex wiederholung lauf execucao execu\u{e7}\u{e3}o ejecucion ejecuci\u{f3}n corrida rodada repeticao repno round measurement nrun";

const COUNTS: &str = "runs n count samples nruns numruns nsamples numsamples nreps numreps repeats \
    nrepeats numrepeats measurements anzahl observations trials";

const UNITS: &str = "unit units timeunit timeunits elapsedunit walltimeunit runtimeunit einheit \
    wallunit durationunit perfunit checkperfunit";

const EXIT_CODES: &str = "exit exitcode exitcodes exitstatus exitval exitvalue rc returncode retcode ret \
    retval returnvalue errorcode errcode errno signal";

const SUCCESSES: &str = "verification validation check checks checksum checksumok jobdone finishedok \
    success succeeded successful ok passed converged valid correct completed finished \
    iscorrect isvalid erfolg verified validated";

const FAILURES: &str = "crash errs err nerrors nerr numerrors failures nfailures traceback stacktrace \
    exclude excluded discard discarded outlier outliers failed failure error errors timeout timedout crashed killed oom hung aborted fail \
    exception fehler invalidity invalid";

const STATUSES: &str = "termination exitreason endreason reason level loglevel status state result outcome verdict jobstate jobstatus runstatus ramblestatus \
    experimentstatus teststatus resultstatus";

const CIRCUMSTANCES: &str = "timestamp date datetime when day starttime start started startedat begin \
    end endtime ended endedat submit submittime jobid id uuid pid host hostname hosts nodename nodelist \
    user username comment comments note notes remark remarks seq send receive logfile log logpath \
    jobname gitcommit commit sha partition cluster account stdout stderr index lineno utctime localtime \
    datum blockinfile residual residuals residuum relres finalresidual residualnorm resnorm l2norm rmse \
    relerror relativeerror abserror maxerror l2error";

/// The lists, in the order in which a name is looked for.
const LISTS: [(Role, &str); 13] = [
    (Role::Processes, PROCESSES),
    (Role::Threads, THREADS),
    (Role::Cores, CORES),
    (Role::AllCores, ALL_CORES),
    (Role::Nodes, NODES),
    (Role::ProcessesPerNode, PROCESSES_PER_NODE),
    (Role::Repetition, REPETITIONS),
    (Role::Unit, UNITS),
    (Role::ExitCode, EXIT_CODES),
    (Role::Success, SUCCESSES),
    (Role::Failure, FAILURES),
    (Role::Status, STATUSES),
    (Role::Circumstance, CIRCUMSTANCES),
];

/// Parts of a name that make it a standard deviation.
const DEVIATIONS: [&str; 8] =
    ["std", "stddev", "stdev", "sd", "sigma", "deviation", "stdabw", "standardabweichung"];

/// The letters and digits of a name in small letters, without what tools put before a parameter's name
/// and without what stands in brackets.
fn plain(name: &str) -> String {
    let name = name.split(['[', '(', '{']).next().unwrap_or_default();
    let name = name.rsplit(['.', ':']).next().unwrap_or_default();
    let plain: String =
        name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let bare = plain.strip_prefix("parameter").filter(|rest| !rest.is_empty());
    bare.map_or(plain.clone(), Into::into)
}

/// Words before a name that change nothing of it, and the roles that such a name may have; all where none.
const BEFORE: [(&str, &[Role]); 15] = [
    ("of", &[]),
    ("totalnumberof", &[Role::Processes, Role::Nodes]),
    ("numberof", &[]),
    ("num", &[]),
    ("nbof", &[]),
    ("nb", &[]),
    ("no", &[]),
    ("n", &[]),
    ("openmp", &[Role::Threads]),
    ("omp", &[Role::Threads]),
    ("mpi", &[Role::Processes, Role::ProcessesPerNode]),
    ("slurm", &[]),
    ("pbs", &[]),
    ("param", &[]),
    ("config", &[]),
];

/// Words behind a name that change nothing of it.
const BEHIND: [&str; 4] = ["count", "number", "num", "used"];

/// What a column of that name is for; `None` of one that the dictionary does not have.
pub fn role_of(name: &str) -> Option<Role> {
    // What is within an error is one: `error.type`.
    let outer = name.split_once('.').map(|(outer, _)| exactly(&plain(outer)));
    if let Some(Some(Role::Failure)) = outer {
        return Some(Role::Failure);
    }
    let per = plain(&name.replace('/', "per"));
    let found = exactly(&plain(name)).or_else(|| exactly(&per)).or_else(|| with_more(&per));
    found.or_else(|| is_deviation(name).then_some(Role::Deviation))
}

fn exactly(plain: &str) -> Option<Role> {
    LISTS.iter().find(|(_, list)| is_in(list, plain)).map(|(role, _)| *role)
}

/// The role of a name with words before or behind it, at most two.
fn with_more(plain: &str) -> Option<Role> {
    let before = BEFORE.iter().filter_map(|(word, roles)| {
        // A letter of another name may be any factor: `nm`.
        let rest = plain.strip_prefix(word).filter(|rest| rest.len() > 2)?;
        let found = exactly(rest).or_else(|| {
            let inner = BEFORE.iter().filter(|(inner, _)| inner != word);
            inner.filter_map(|(inner, _)| exactly(rest.strip_prefix(inner)?)).next()
        })?;
        let is_meant = match roles {
            [] => COUNTED.contains(&found),
            roles => roles.contains(&found),
        };
        is_meant.then_some(found)
    });
    let behind = || {
        let found = BEHIND.iter().find_map(|word| exactly(plain.strip_suffix(word)?));
        found.filter(|role| COUNTED.contains(role))
    };
    before.into_iter().next().or_else(behind)
}

/// The roles of what is counted.
const COUNTED: [Role; 6] = [
    Role::Processes,
    Role::Threads,
    Role::Cores,
    Role::AllCores,
    Role::Nodes,
    Role::ProcessesPerNode,
];

/// Whether a name may be the number of runs that a row stands for; where no deviation stands beside it,
/// it may be anything.
pub fn is_count(name: &str) -> bool {
    is_in(COUNTS, &plain(name))
}

fn is_deviation(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower.split(|it: char| !it.is_alphanumeric());
    words.any(|word| DEVIATIONS.contains(&word))
}

/// Words for a statistic in the name of a time, from the one that is taken first: a single run's time, a
/// mean, a median; never an extreme where there is another.
pub fn statistic_of(name: &str) -> u32 {
    let lower = name.to_lowercase();
    let has = |words: &[&str]| {
        lower.split(|it: char| !it.is_alphanumeric()).any(|word| words.contains(&word))
    };
    let is_percentile = |word: &str| {
        let digits = word.strip_prefix('p').filter(|it| it.len() == 2 && *it != "50");
        digits.is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()))
    };
    if lower.split(|it: char| !it.is_alphanumeric()).any(is_percentile)
        || has(&[
            "min", "max", "minimum", "maximum", "fastest", "slowest", "best", "worst", "lower",
            "upper",
        ])
    {
        return 3;
    }
    if has(&["median", "med", "p50"]) {
        return 2;
    }
    u32::from(has(&["mean", "avg", "average", "mittel", "mittelwert"]))
}

/// What a name with one number in it repeats, and the number: `run1`, `threads=4`, `time (4 threads)`,
/// `1T (ms)`. A unit in brackets is no part of it. Words for processes and threads are `ranks` and `threads`,
/// one or several.
pub fn numbered(name: &str) -> Option<(String, u32)> {
    let trimmed = name.trim();
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let start = trimmed.find(|it: char| it.is_ascii_digit())?;
    let end = start + digits(&trimmed[start..]);
    let number = trimmed[start..end].parse().ok()?;
    let (before, behind) = (&trimmed[..start], &trimmed[end..]);
    let before = before.trim_end_matches(|it: char| !it.is_alphanumeric());
    let (word, behind) = behind.split_at(behind.find(['(', '[']).unwrap_or(behind.len()));
    let word = word.trim_matches(|it: char| !it.is_alphanumeric());
    if behind.contains(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let counted = || match role_of_word(word)? {
        Role::Processes => Some("ranks".to_string()),
        _ => Some("threads".to_string()),
    };
    let others = || {
        let several = format!("{}s", word.trim_end_matches('s'));
        exactly(&plain(&several)).filter(|role| COUNTED.contains(role)).map(|_| several)
    };
    let word = match word {
        "" => String::new(),
        _ => counted().or_else(others)?,
    };
    let stem = [before, &word, behind].into_iter().filter(|it| !it.is_empty());
    Some((stem.collect::<Vec<_>>().join(" "), number))
}

/// What the numbers in such names count, by the stem of these; by its last word, where that stands behind a
/// word for a time.
pub fn role_of_stem(stem: &str) -> Option<Role> {
    let bare = stem.split(['(', '[']).next().unwrap_or_default().trim();
    role_of(stem).or_else(|| {
        let (before, last) = bare.rsplit_once(|it: char| !it.is_alphanumeric())?;
        let is_time = last.len() > 1 && matches!(measure_of(before), Measure::Time(_));
        role_of_word(last).filter(|_| is_time)
    })
}

/// Single letters and stubs that count processes or threads where they stand beside a number.
const STUBS: [(Role, &str); 2] = [
    (Role::Processes, "r rank task proc worker mpi ntmpi"),
    (Role::Threads, "t th thd thrds omp ntomp"),
];

/// A part of a text.
enum Token<'a> {
    Number(&'a str),
    Word(&'a str),
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let kind = |it: char| (it.is_ascii_digit(), it.is_alphabetic());
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|it: char| kind(it) != kind(first)).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(end);
        match kind(first) {
            (true, _) => tokens.push(Token::Number(token)),
            (_, true) if !["x", "X", "by", "and"].contains(&token) => {
                tokens.push(Token::Word(token));
            }
            _ => {}
        }
        rest = behind;
    }
    tokens
}

/// Whether a word counts processes or threads.
pub fn role_of_word(word: &str) -> Option<Role> {
    let lower = word.to_lowercase();
    let role = |word: &str| {
        let found = role_of(word).filter(|it| matches!(it, Role::Processes | Role::Threads));
        found.or_else(|| STUBS.iter().find(|(_, list)| is_in(list, word)).map(|(role, _)| *role))
    };
    // As in `4OMPx8MPI`.
    role(&lower).or_else(|| role(lower.strip_suffix('x')?))
}

/// The whole numbers in a text, each with what the word behind it, or before it where the text begins with
/// a word, says that it counts.
fn labelled(text: &str) -> Vec<(u32, Option<Role>)> {
    let tokens = tokens(text);
    let is_behind = matches!(tokens.first(), Some(Token::Number(_)));
    let mut numbers = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let Token::Number(digits) = token else { continue };
        let other = match is_behind {
            true => tokens.get(place + 1),
            false => place.checked_sub(1).and_then(|place| tokens.get(place)),
        };
        let role = match other {
            Some(Token::Word(word)) => role_of_word(word).map(|role| (*word, role)),
            _ => None,
        };
        numbers.push((digits.parse().unwrap_or(0), role));
    }
    // Beside threads, p is processes.
    let is_p = |label: &Option<(&str, Role)>| {
        label.is_some_and(|(word, _)| word.eq_ignore_ascii_case("p"))
    };
    let has_threads = numbers
        .iter()
        .any(|(_, label)| !is_p(label) && label.is_some_and(|(_, role)| role == Role::Threads));
    let role = |label: Option<(&str, Role)>| match is_p(&label) && has_threads {
        true => Some(Role::Processes),
        false => label.map(|(_, role)| role),
    };
    numbers.into_iter().map(|(number, label)| (number, role(label))).collect()
}

/// The only number of a text such as `8 ranks`, and what it counts.
pub fn labelled_count(text: &str) -> Option<(u32, Role)> {
    match labelled(text)[..] {
        [(number, Some(role))] if number >= 1 && !text.contains(['.', ',']) => Some((number, role)),
        _ => None,
    }
}

/// Whether the second of the two numbers of a text counts processes, and the first threads; `None` where
/// words do not say it.
pub fn is_p_first(text: &str) -> Option<bool> {
    match labelled(text)[..] {
        [(_, Some(Role::Processes)), (_, Some(Role::Threads))] => Some(false),
        [(_, Some(Role::Threads)), (_, Some(Role::Processes))] => Some(true),
        _ => None,
    }
}

/// Whether the second of the two numbers counts processes in a column that is called so: `ranks x threads`.
pub fn is_p_first_by_name(name: &str) -> Option<bool> {
    let mut roles = Vec::new();
    for token in tokens(name) {
        let Token::Word(word) = token else { continue };
        let known = role_of_word(word).filter(|_| word.len() > 1);
        match known.or_else(|| role_of(word)) {
            Some(role @ (Role::Processes | Role::Threads)) if !roles.contains(&role) => {
                roles.push(role);
            }
            Some(Role::Nodes | Role::Cores | Role::AllCores) => return None,
            _ => {}
        }
    }
    match roles[..] {
        [Role::Processes, Role::Threads] => Some(false),
        [Role::Threads, Role::Processes] => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(role: Role, names: &[&str]) {
        for name in names {
            assert_eq!(role_of(name), Some(role), "{name}");
        }
    }

    #[test]
    fn usual_names_have_their_roles_in_any_capitals_and_with_any_marks() {
        check(
            Role::Processes,
            &["m", "NP", "nprocs", "MPI ranks", "num_tasks", "n_ranks", "Prozesse"],
        );
        check(
            Role::Processes,
            &["# MPI processes", "no. of ranks", "nb_procs", "N MPI tasks", "ranks used"],
        );
        check(Role::Threads, &["OMP_NUM_THREADS", "threads/rank", "cpus-per-task", "parameter_p"]);
        check(
            Role::Threads,
            &["# threads", "OpenMP threads per process", "num omp threads", "thread count"],
        );
        check(Role::Cores, &["cores", "NCPUS"]);
        check(Role::AllCores, &["AllocCPUS", "total_cores"]);
        check(Role::ProcessesPerNode, &["ranks_per_node", "PPN"]);
        check(Role::ExitCode, &["Exitval", "exit_code", "rc"]);
        check(Role::Success, &["Success", "converged"]);
        check(Role::Status, &["State", "RAMBLE_STATUS"]);
        check(Role::Deviation, &["stddev_s", "time std (s)", "sd"]);
        check(Role::Repetition, &["repetition", "run", "rep#"]);
        check(Role::Circumstance, &["when", "hostname", "JobID"]);
    }

    #[test]
    fn a_name_that_is_not_in_the_dictionary_has_no_role() {
        for name in
            ["N", "size", "mode", "kernel", "dataset", "x", "standard", "ranked", "nx", "nm"]
        {
            assert_eq!(role_of(name), None, "{name}");
        }
    }

    #[test]
    fn the_number_at_the_end_of_a_name_is_its_own() {
        assert_eq!(numbered("1 thread"), Some(("threads".into(), 1)));
        assert_eq!(numbered("4 threads"), Some(("threads".into(), 4)));
        assert_eq!(numbered("1 rank"), Some(("ranks".into(), 1)));
        assert_eq!(numbered("2 nodes or so"), None);
        assert_eq!(numbered("run1"), Some(("run".into(), 1)));
        assert_eq!(numbered("threads = 4"), Some(("threads".into(), 4)));
        assert_eq!(numbered("16"), Some((String::new(), 16)));
        assert_eq!(numbered("time_s"), None);
        assert_eq!(numbered("1T (ms)"), Some(("threads (ms)".into(), 1)));
        assert_eq!(numbered("time_2threads"), Some(("time threads".into(), 2)));
        assert_eq!(numbered("8 MPI"), Some(("ranks".into(), 8)));
        assert_eq!(numbered("run 2 (s)"), Some(("run (s)".into(), 2)));
        for name in ["8x4", "128^3", "p95 (2 runs)", "1.5", "2nd"] {
            assert_eq!(numbered(name), None, "{name}");
        }
    }

    #[test]
    fn words_beside_numbers_say_what_they_count() {
        for text in [
            "mpi8_omp4",
            "8 ranks x 4 threads",
            "8R4T",
            "8MPI x 4OMP",
            "-np 8 -ntomp 4",
            "8 ranks, 4 threads/rank",
            "8p4t",
            "jacobi_np8_nt4",
            "MPI ranks = 8, OMP threads = 4",
        ] {
            assert_eq!(is_p_first(text), Some(false), "{text}");
        }
        for text in ["OMP=4 MPI=8", "4OMPx8MPI", "t4_r8", "4 threads on 8 ranks"] {
            assert_eq!(is_p_first(text), Some(true), "{text}");
        }
        for text in ["8x4", "n8t4", "case 8, mesh 4", "8 ranks", "a8_b4"] {
            assert_eq!(is_p_first(text), None, "{text}");
        }
        assert_eq!(labelled_count("8 ranks"), Some((8, Role::Processes)));
        assert_eq!(labelled_count("OMP=4"), Some((4, Role::Threads)));
        for text in ["8", "run 4", "1.5 t", "8x4", "4 nodes"] {
            assert_eq!(labelled_count(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_says_which_number_comes_first() {
        for name in ["MPI x OMP", "ranks \u{d7} threads", "layout (procs, threads/proc)"] {
            assert_eq!(is_p_first_by_name(name), Some(false), "{name}");
        }
        assert_eq!(is_p_first_by_name("threads x ranks"), Some(true));
        for name in ["config", "nodes x ranks x threads", "ranks"] {
            assert_eq!(is_p_first_by_name(name), None, "{name}");
        }
    }
}
