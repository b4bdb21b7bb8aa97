//! `[refined]`: the terms of the refined model, each of which may be absent.
//!
//! ```toml
//! [refined]
//! iterations = 2499                 # whole numbers
//! hardware_contexts = 4
//! exposed_transfer_s = 9e-8         # numbers, or tables with value, std_error, source
//! memory_demand_bytes_per_s = 2.1e9 # these four together
//! memory_bandwidth_bytes_per_s = { value = 22.8e9, source = "memory.csv" }
//! memories = 2
//! memory_of = "process"             # or "apu"
//! work_growth_s = 0.01
//! ```

use super::super::parameters::Estimate;
use super::super::refined::{BANDWIDTH, DEMAND, Memory, Placement, Refinements};
use super::{read_estimate, writing};
use mmgp_base::error::Result;
use mmgp_base::table::toml;

pub(super) fn read(root: &toml::Table<'_>) -> Result<Option<Refinements>> {
    let Some(table) = root.optional_table("refined")? else { return Ok(None) };
    table.expect_keys(&Refinements::KEYS)?;
    let count = |key| table.has(key).then(|| table.count(key, 1)).transpose();
    let estimate = |key| table.has(key).then(|| read_estimate(&table, key)).transpose();
    let of_memory = [DEMAND, BANDWIDTH, "memories", "memory_of"];
    let memory = of_memory.iter().any(|key| table.has(key)).then(|| read_memory(&table));
    Ok(Some(Refinements {
        iterations: count("iterations")?,
        hardware_contexts: count("hardware_contexts")?,
        exposed_transfer_s: estimate("exposed_transfer_s")?,
        memory: memory.transpose()?,
        work_growth_s: estimate("work_growth_s")?,
    }))
}

fn read_memory(table: &toml::Table<'_>) -> Result<Memory> {
    let bandwidth = read_estimate(table, BANDWIDTH)?;
    if bandwidth.value == 0.0 {
        return Err(table.error(BANDWIDTH, "no bandwidth", "more than 0 byte/s"));
    }
    let name = table.text("memory_of")?;
    let Some(placement) = Placement::named(name) else {
        return Err(table.error("memory_of", format!("{name:?}"), "\"process\" or \"apu\""));
    };
    Ok(Memory {
        demand_bytes_per_s: read_estimate(table, DEMAND)?,
        bandwidth_bytes_per_s: bandwidth,
        memories: table.count("memories", 1)?,
        placement,
    })
}

pub(super) fn write(text: &mut String, refinements: &Refinements) {
    *text += "\n# The refined model, beside equation 11\n[refined]\n";
    let mut line = |name: &str, comment: &str, value: Option<String>| {
        if let Some(value) = value {
            writing::commented(text, (name, comment), &value);
        }
    };
    let count = |count: u32| Some(count.to_string());
    let written = |estimate: &Estimate| Some(writing::inline_table(estimate, None));
    let Refinements { iterations, hardware_contexts, exposed_transfer_s, memory, work_growth_s } =
        refinements;
    line("iterations", "I: iterations of the shared loop", iterations.and_then(count));
    line(
        "hardware_contexts",
        "H: hardware contexts of the host",
        hardware_contexts.and_then(count),
    );
    line(
        "exposed_transfer_s",
        "First and last block of an off-load on their memory [s per off-load and APU]",
        exposed_transfer_s.as_ref().and_then(written),
    );
    if let Some(memory) = memory {
        let name = Some(format!("{:?}", memory.placement.name()));
        line(DEMAND, "What an APU streams [byte/s of T_APU]", written(&memory.demand_bytes_per_s));
        line(BANDWIDTH, "What a memory delivers [byte/s]", written(&memory.bandwidth_bytes_per_s));
        line("memories", "Memories of that bandwidth", count(memory.memories));
        line("memory_of", "What is dealt to the memories in turn", name);
    }
    line(
        "work_growth_s",
        "APU time that every further APU of a thread adds [s]",
        work_growth_s.as_ref().and_then(written),
    );
}

#[cfg(test)]
mod tests {
    use super::super::super::published;
    use super::*;
    use crate::models::Parameters;
    use mmgp_base::table::Source;

    fn read(refined: &str) -> Result<Parameters> {
        let base = published("pbpi-qs20").unwrap().to_toml();
        Parameters::read(&Source::new("p.toml", &format!("{base}\n[refined]\n{refined}")))
    }

    fn check_refused(refined: &str, expected: &str) {
        let error = read(refined).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    const MEMORY: &str = "memory_demand_bytes_per_s = 2e9\nmemory_bandwidth_bytes_per_s = \
                          { value = 20e9, source = \"memory.csv\" }\nmemories = 2\n\
                          memory_of = \"apu\"\n";

    #[test]
    fn refined_terms_are_read_and_written_exactly() {
        let all = format!(
            "iterations = 2499\nhardware_contexts = 4\nexposed_transfer_s = {{ value = 9e-8, \
             std_error = 1e-9 }}\nwork_growth_s = 0.01\n{MEMORY}"
        );
        for text in ["", "iterations = 3\n", MEMORY, &all] {
            let parameters = read(text).unwrap();
            let again = Parameters::read(&Source::new("p.toml", &parameters.to_toml())).unwrap();
            assert_eq!(again, parameters);
        }
        let refinements = read(&all).unwrap().refinements.unwrap();
        assert_eq!(refinements.names(), Refinements::NAMES);
        assert_eq!(refinements.hardware_contexts, Some(4));
        let memory = refinements.memory.unwrap();
        assert_eq!((memory.memories, memory.placement), (2, Placement::ByApu));
        assert_eq!(memory.bandwidth_bytes_per_s.source.as_deref(), Some("memory.csv"));
        assert_eq!(published("pbpi-qs20").unwrap().refinements, None);
    }

    #[test]
    fn refined_terms_are_checked() {
        check_refused("iterations = 0\n", "expected a whole number of at least 1");
        check_refused("hardware_contexts = 1.5\n", "expected a whole number of at least 1");
        check_refused("smt = 4\n", "expected one of iterations, hardware_contexts");
        check_refused("work_growth_s = -1\n", "expected 0 or more");
        check_refused("memories = 2\n", "no value for \"refined.memory_bandwidth_bytes_per_s\"");
        check_refused(&MEMORY.replace("apu", "node"), "expected \"process\" or \"apu\"");
        check_refused(&MEMORY.replace("20e9", "0"), "expected more than 0 byte/s");
    }
}
