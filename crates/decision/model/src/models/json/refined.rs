//! `refined` in JSON: the keys of `[refined]` in a parameter file.

use serde::Serialize;

use super::super::parameters::Estimate;
use super::super::refined::{BANDWIDTH, DEMAND, Memory, Placement, Refinements};
use super::read_estimate;
use mmgp_base::error::Result;
use mmgp_base::table::json::{Object, Value};

pub(super) fn read(value: &Value<'_>) -> Result<Refinements> {
    let object = value.object()?;
    object.expect_keys(&Refinements::KEYS)?;
    let count = |key: &str| object.get(key).map(|value| value.count(1)).transpose();
    let estimate = |key: &str| object.get(key).map(|value| read_estimate(&value)).transpose();
    let of_memory = [DEMAND, BANDWIDTH, "memories", "memory_of"];
    let memory = of_memory.iter().any(|key| object.get(key).is_some());
    Ok(Refinements {
        iterations: count("iterations")?,
        hardware_contexts: count("hardware_contexts")?,
        exposed_transfer_s: estimate("exposed_transfer_s")?,
        memory: memory.then(|| read_memory(&object)).transpose()?,
        work_growth_s: estimate("work_growth_s")?,
    })
}

fn read_memory(object: &Object<'_>) -> Result<Memory> {
    let place = object.required("memory_of")?;
    let name = place.text()?;
    let Some(placement) = Placement::named(&name) else {
        return Err(place.error("\"process\" or \"apu\""));
    };
    Ok(Memory {
        demand_bytes_per_s: read_estimate(&object.required(DEMAND)?)?,
        bandwidth_bytes_per_s: read_estimate(&object.required(BANDWIDTH)?)?,
        memories: object.required("memories")?.count(1)?,
        placement,
    })
}

/// `refined` as it is written.
#[derive(Serialize)]
pub(super) struct Refined<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    iterations: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hardware_contexts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exposed_transfer_s: Option<&'a Estimate>,
    #[serde(flatten)]
    memory: Option<OfMemory<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work_growth_s: Option<&'a Estimate>,
}

#[derive(Serialize)]
struct OfMemory<'a> {
    memory_demand_bytes_per_s: &'a Estimate,
    memory_bandwidth_bytes_per_s: &'a Estimate,
    memories: u32,
    memory_of: &'static str,
}

impl<'a> From<&'a Refinements> for Refined<'a> {
    fn from(refined: &'a Refinements) -> Self {
        Self {
            iterations: refined.iterations,
            hardware_contexts: refined.hardware_contexts,
            exposed_transfer_s: refined.exposed_transfer_s.as_ref(),
            memory: refined.memory.as_ref().map(OfMemory::from),
            work_growth_s: refined.work_growth_s.as_ref(),
        }
    }
}

impl<'a> From<&'a Memory> for OfMemory<'a> {
    fn from(memory: &'a Memory) -> Self {
        Self {
            memory_demand_bytes_per_s: &memory.demand_bytes_per_s,
            memory_bandwidth_bytes_per_s: &memory.bandwidth_bytes_per_s,
            memories: memory.memories,
            memory_of: memory.placement.name(),
        }
    }
}
