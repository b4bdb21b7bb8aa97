//! Runs as arrays of jobs, for configurations that take different numbers of nodes: an allocation
//! of the most would keep nodes idle.

use std::collections::BTreeMap;

use super::{Settings, head, options, step, step_variable, unset};
use crate::emit::{self, Launcher};
use crate::run::Run;

/// Elements that an array may have: sites allow 1001 indices, 0 among them, unless they say more
/// (`MaxArraySize` in `slurm.conf(5)`).
const MOST_ELEMENTS: usize = 1000;

/// A bash script that submits `runs`, each of which adds its line to `results` as those of
/// [`emit::script`] do.
///
/// All elements of an array have the same number of nodes. There is thus one array for each, the
/// fewest nodes first, and each waits until all before it have ended, well or not
/// (`--dependency=afterany`); within an array one element runs at a time (`%1`). No run disturbs
/// another, nor is disturbed by others' jobs on its nodes (`--exclusive`).
pub fn array(settings: &Settings<'_>, runs: &[Run], results: &str) -> String {
    let mut by_nodes: BTreeMap<u32, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        by_nodes.entry(run.order.nodes).or_default().push(run);
    }
    let arrays: Vec<(u32, &[&Run])> = by_nodes
        .iter()
        .flat_map(|(nodes, runs)| runs.chunks(MOST_ELEMENTS).map(|runs| (*nodes, runs)))
        .collect();
    let mut text = format!(
        "#!/usr/bin/env bash\n# Submits {} runs as arrays of jobs, one at a time: {}.\nset -eu\n\
         previous=\n\
         submit() {{\n\
         \x20   # Some sites add the name of the cluster.\n\
         \x20   previous=$(sbatch --parsable ${{previous:+--dependency=afterany:$previous}})\n\
         \x20   previous=${{previous%%;*}}\n\
         \x20   echo \"$previous\"\n\
         }}\n",
        runs.len(),
        arrays.len(),
    );
    for (nodes, runs) in arrays {
        let job = job(settings, nodes, runs, results);
        text += &format!("submit << '{END}'\n{job}{END}\n");
    }
    text
}

/// Ends a script within the script: every line of ours that begins with a word of the user's
/// begins with another one of ours.
const END: &str = "END_OF_JOB";

/// One array.
fn job(settings: &Settings<'_>, nodes: u32, runs: &[&Run], results: &str) -> String {
    let mut text = head(settings, nodes, "--signal=B:TERM@60");
    text += &options(settings);
    // These are not up to the user: where there are two, the last counts.
    text += &format!("#SBATCH --exclusive\n#SBATCH --nodes={nodes}\n");
    text += &format!("#SBATCH --array=1-{}%1\n\n{}\n", runs.len(), unset());
    text += &emit::runner(results);
    text += "case $SLURM_ARRAY_TASK_ID in\n";
    for (index, run) in runs.iter().enumerate() {
        let mut run = (*run).clone();
        let (name, value) = step_variable(run.mapping);
        run.env.insert(name.into(), value);
        let launcher = Launcher(step(run.mapping, nodes));
        text += &format!("{}) {} ;;\n", index + 1, emit::line(&run, launcher));
    }
    text + "esac\n"
}
