//! Runs of list ranking: those from which the terms of its model are estimated, and any other.

use std::sync::Arc;

use super::Target;
use mmgp_apps::list_ranking::{Findings, ListRanking};
use mmgp_apps::{Application, Ran};
use mmgp_base::Mapping;
use mmgp_base::error::Result;
use mmgp_base::table::records::ThreadRun;
use mmgp_lists::{List, Order, Values};

/// A run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadPlan {
    /// Accelerators.
    pub p: u32,
    /// Sublists.
    pub sublists: u32,
    /// DMA lists under way at once.
    pub buffers: u32,
    /// Nodes of the list.
    pub nodes: u32,
    /// How heads are chosen, and so which list it is.
    pub order: Order,
}

/// Lengths of the lists that terms are estimated from: prime, so that sublists begin with different
/// banks of the memory.
const LENGTHS: [u32; 3] = [100_003, 200_003, 400_009];

/// One thread, as many as there can be lists under way, and many; alone.
const ALONE: [[u32; 2]; 3] = [[1, 1], [16, 16], [128, 16]];

/// Random sublists load accelerators unevenly, the less so the more there are.
const MANY_RANDOM: [u32; 2] = [512, 16];

/// The runs that [`estimate_threads`](mmgp_model::fit::estimate_threads) asks for, with these numbers of accelerators
/// and lists of that order.
pub fn thread_plans(ps: &[u32], order: Order) -> Vec<ThreadPlan> {
    let [_, _, of_one] = ALONE;
    let many = if order == Order::Random { MANY_RANDOM } else { of_one };
    let alone = ALONE.into_iter().map(|choice| (1, choice, Order::Ordered));
    let others = ps.iter().filter(|&&p| p > 1 || order != Order::Ordered);
    let all = alone.chain(others.map(|&p| (p, many, order)));
    let plan = |(p, [sublists, buffers], order): (u32, [u32; 2], Order)| {
        LENGTHS.map(|nodes| ThreadPlan { p, sublists, buffers, nodes, order })
    };
    all.flat_map(plan).collect()
}

/// How the heads of sublists are chosen for that order, in files: so that all are as long, or at random.
fn heads(order: Order) -> &'static str {
    match order {
        Order::Ordered => "even",
        Order::Random => "random",
    }
}

/// Runs a plan on a list of its own.
///
/// # Errors
/// What the run runs into.
pub fn run_thread_plan<T>(target: &T, plan: &ThreadPlan, seed: u64) -> Result<ThreadRun>
where
    T: Target<Workload = dyn Application, Ran = Ran> + ?Sized,
{
    let list = List::generate(plan.nodes, plan.order, Values::Ones, seed)?;
    let choice = [plan.sublists, plan.buffers];
    let ranking = ListRanking::new(Arc::new(list), plan.order, choice, seed)?;
    let ran = target.run(&ranking, Mapping::new(1, plan.p)?)?;
    let found: &Findings = ran.findings().expect("invariant: list ranking has findings");
    let [step_1_s, step_2_s, step_3_s, step_4_s] = found.steps.map(|step| step.0);
    let &ThreadPlan { p, sublists, buffers, nodes, order } = plan;
    Ok(ThreadRun {
        heads: heads(order).into(),
        p,
        sublists,
        buffers,
        nodes,
        repetition: 1,
        time_s: ran.run.time.0,
        step_1_s,
        step_2_s,
        step_3_s,
        step_4_s,
        load_imbalance: found.imbalance(),
    })
}
