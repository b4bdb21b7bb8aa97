//! A job of HyperQueue.

use std::fmt::Write;

use crate::run::Run;

/// A job definition file of HyperQueue (`hq job submit-file`): one task for each run, of the same
/// id, that has its nodes to itself. Its results come from `hq --output-mode=json task list`.
///
/// A JSON array (`hq submit --from-json`) would give all tasks the same resources and limit, and
/// hand them the rest in one variable; a definition file gives each its own. See
/// <https://it4innovations.github.io/hyperqueue/stable/jobs/jobfile/>. Its times hold the way of
/// the messages from worker to server.
pub fn hyperqueue(runs: &[Run], name: &str) -> String {
    let mut text = format!("name = {}\n", toml(name));
    for run in runs {
        let mut line = |line: String| writeln!(text, "{line}").expect("invariant: a string grows");
        line(format!("\n[[task]]\nid = {}", run.order.id));
        let command: Vec<String> = run.argv.iter().map(|word| toml(word)).collect();
        line(format!("command = [{}]", command.join(", ")));
        let env = run.environment();
        let env: Vec<String> =
            env.iter().map(|(name, value)| format!("{} = {}", toml(name), toml(value))).collect();
        line(format!("env = {{ {} }}", env.join(", ")));
        if let Some(dir) = &run.dir {
            line(format!("cwd = {}", toml(dir)));
        }
        if let Some(limit) = run.order.limit {
            line(format!("time_limit = \"{:.0}ms\"", (limit.0 * 1e3).ceil()));
        }
        line("[[task.request]]".into());
        line(match run.order.nodes {
            1 => "resources = { \"cpus\" = \"all\" }".into(),
            nodes => format!("n_nodes = {nodes}"),
        });
    }
    text
}

/// A text in TOML: as in JSON, which may hold one more character.
fn toml(text: &str) -> String {
    let text = serde_json::to_string(text).expect("invariant: text can be written");
    text.replace('\u{7f}', "\\u007f")
}
