//! What is ordered before what in random programs, by looking for paths.

use std::collections::BTreeMap;

use super::*;

/// What happens, and what comes right after what.
#[derive(Default)]
pub(super) struct Graph {
    next: Vec<Vec<usize>>,
    /// Who touches which thing.
    touches: Vec<(usize, usize, Touch)>,
}

impl Graph {
    fn node(&mut self, after: impl IntoIterator<Item = usize>) -> usize {
        let node = self.next.len();
        self.next.push(Vec::new());
        after.into_iter().for_each(|before| self.next[before].push(node));
        node
    }

    pub fn of(programs: &Programs) -> Self {
        let mut own = Self::default();
        let mut told: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut seen: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (actor, program) in programs.iter().enumerate() {
            let mut now = own.node([]);
            // Tag, order, how many queue barriers came before, node.
            let mut commands: Vec<(u8, Order, u32, usize)> = Vec::new();
            let mut barriers = 0;
            for &act in program {
                now = own.node([now]);
                let mut command = |own: &mut Self, tag, order| {
                    let before = commands.iter().filter(|earlier| {
                        let same = earlier.0 == tag
                            && (order != Order::Free || earlier.1 == Order::Barrier);
                        same || earlier.2 < barriers
                    });
                    let after: Vec<usize> = before.map(|it| it.3).chain([now]).collect();
                    let node = own.node(after);
                    commands.push((tag, order, barriers, node));
                    node
                };
                match act {
                    Act::Move { thing, direction, tag, order, .. } => {
                        let node = command(&mut own, tag, order);
                        let touch =
                            [Touch::Reads, Touch::Writes][usize::from(direction == Direction::Put)];
                        own.touches.push((node, thing, touch));
                    }
                    Act::Touch { thing, touch } => own.touches.push((now, thing, touch)),
                    Act::Wait(mask) => {
                        let done = commands.iter().filter(|it| mask >> it.0 & 1 != 0);
                        done.for_each(|it| own.next[it.3].push(now));
                    }
                    Act::Barrier => barriers += 1,
                    Act::Flag { number, tag, order, .. } => {
                        let node = command(&mut own, tag, order);
                        told.entry(format!("flag {number}")).or_default().push(node);
                    }
                    Act::Signal { to, signal, tag, order } => {
                        let node = command(&mut own, tag, order);
                        told.entry(format!("{signal:?} of {to}")).or_default().push(node);
                    }
                    Act::Line(number) => {
                        told.entry(format!("line {number}")).or_default().push(now);
                    }
                    Act::Post { spe } => {
                        let to_host = actor != HOST;
                        told.entry(format!("mail {spe} {to_host}")).or_default().push(now);
                    }
                    Act::SeeFlag(number) => {
                        seen.entry(format!("flag {number}")).or_default().push(now);
                    }
                    Act::SeeSignal(signal) => {
                        seen.entry(format!("{signal:?} of {actor}")).or_default().push(now);
                    }
                    Act::SeeLine(number) => {
                        seen.entry(format!("line {number}")).or_default().push(now);
                    }
                    Act::Take { spe } => {
                        let to_host = actor == HOST;
                        seen.entry(format!("mail {spe} {to_host}")).or_default().push(now);
                    }
                    Act::Pause(_) => {}
                }
            }
        }
        for (what, seen) in seen {
            let pairs: Vec<_> = told[&what].iter().copied().zip(seen).collect();
            pairs.into_iter().for_each(|(told, seen)| own.next[told].push(seen));
        }
        own
    }

    fn reaches(&self, from: usize) -> Vec<bool> {
        let (mut found, mut left) = (vec![false; self.next.len()], vec![from]);
        while let Some(node) = left.pop() {
            if !std::mem::replace(&mut found[node], true) {
                left.extend(&self.next[node]);
            }
        }
        found
    }

    pub fn has_race(&self) -> bool {
        let reached: Vec<_> = self.touches.iter().map(|touch| self.reaches(touch.0)).collect();
        let touches = || self.touches.iter().zip(&reached);
        touches().any(|(&(one, thing, how), from_one)| {
            touches().any(|(&(two, other, also), from_two)| {
                let writes = how == Touch::Writes || also == Touch::Writes;
                one < two && thing == other && writes && !from_one[two] && !from_two[one]
            })
        })
    }
}
