//! Whole searches on an engine that computes on the host.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::apps::phylogeny::{Alignment, newick};
use crate::apps::raxml::plain::PlainEngine;
use crate::table::Source;

/// The result of a future that never waits.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("a plain engine is always ready"),
    }
}

fn compress(name: &str, text: &str) -> (Patterns, Vec<String>) {
    let alignment = Alignment::read(&Source::new(name, text)).unwrap();
    (Patterns::compress(&alignment), alignment.names)
}

fn jc(patterns: &Patterns) -> Model {
    Model { substitution: Substitution::jc69(), rates: SiteRates::single(patterns.len()) }
}

fn run_plain(patterns: &Patterns, settings: &Settings, task: Task) -> Inference {
    let mut engine = PlainEngine::new(patterns, &jc(patterns));
    block_on(run(&mut engine, patterns, settings, task))
}

fn sim12() -> (Patterns, Vec<String>) {
    compress("sim12.phy", include_str!("../../../../data/sim12.phy"))
}

#[test]
fn it_runs() {
    let (patterns, _) = sim12();
    let found = run_plain(&patterns, &Settings::new(1, Rates::Gamma), Task::Inference(0));
    panic!("{found:?}");
}
