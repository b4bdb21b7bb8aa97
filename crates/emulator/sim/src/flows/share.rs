//! Who passes what, and the max-min fair rates that follow.

/// A sum of caps may exceed a limit by so much and count as within it: it is kept by adding and
/// subtracting, which rounds.
const ROUNDING: f64 = 1e-9;

/// A capacity of a [`Flows`](super::Flows).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capacity(u32);

impl Capacity {
    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Capacities and the flows that pass them, without their progress.
#[derive(Default)]
pub(super) struct Network {
    capacities: Vec<Usage>,
    flows: Vec<Flow>,
    /// Places in `flows` that can be used again.
    vacant: Vec<usize>,
    present: Set,
    /// Capacities that the last change concerns: first those on the path of the flow that came or
    /// went on which others feel it, then all that follow from them.
    concerned: Vec<Capacity>,
    /// Flows that it concerns and that have not been given a rate yet.
    waiting: Vec<usize>,
}

struct Usage {
    limit: f64,
    /// Demand up to which it counts as within the limit.
    most: f64,
    /// The sum of the caps of its flows.
    demand: f64,
    members: Set,
    is_concerned: bool,
    /// What is left of it for the members that wait for their rate, and how many these are.
    left: f64,
    sharers: u32,
}

#[derive(Default)]
struct Flow {
    path: Vec<Capacity>,
    cap: f64,
    is_concerned: bool,
}

impl Usage {
    fn is_contended(&self) -> bool {
        self.demand > self.most
    }
}

impl Network {
    pub fn add(&mut self, limit: f64) -> Capacity {
        let members = Set::default();
        self.capacities.push(Usage {
            limit,
            most: limit * (1.0 + ROUNDING),
            demand: 0.0,
            members,
            is_concerned: false,
            left: 0.0,
            sharers: 0,
        });
        Capacity(self.capacities.len() as u32 - 1)
    }

    /// All flows.
    pub fn flows(&self) -> impl Iterator<Item = usize> + '_ {
        self.present.iter()
    }

    /// Enters a flow, gives it a place, and notes whom it concerns.
    pub fn insert(&mut self, path: &[Capacity], cap: f64) -> usize {
        let flow = self.vacant.pop().unwrap_or(self.flows.len());
        if flow == self.flows.len() {
            self.flows.push(Flow::default());
        }
        let entry = &mut self.flows[flow];
        entry.cap = cap;
        entry.path.clear();
        entry.path.extend_from_slice(path);
        self.present.insert(flow);
        self.concerned.clear();
        for &capacity in path {
            let usage = &mut self.capacities[capacity.index()];
            usage.demand += cap;
            usage.members.insert(flow);
            if usage.is_contended() {
                self.concerned.push(capacity);
            }
        }
        flow
    }

    /// Takes a flow out and notes whom it concerned.
    pub fn remove(&mut self, flow: usize) {
        self.present.remove(flow);
        self.vacant.push(flow);
        self.concerned.clear();
        let Flow { path, cap, .. } = &self.flows[flow];
        for &capacity in path {
            let usage = &mut self.capacities[capacity.index()];
            if usage.is_contended() {
                self.concerned.push(capacity);
            }
            usage.members.remove(flow);
            // Rounding does not pile up from one busy time to the next.
            usage.demand = if usage.members.is_empty() { 0.0 } else { usage.demand - cap };
        }
    }

    /// Gives flows other caps and notes whom that concerns.
    pub fn limit(&mut self, caps: impl Iterator<Item = (usize, f64)>) {
        self.concerned.clear();
        for (flow, cap) in caps {
            let entry = &mut self.flows[flow];
            let change = cap - std::mem::replace(&mut entry.cap, cap);
            for &capacity in &entry.path {
                let usage = &mut self.capacities[capacity.index()];
                let was_contended = usage.is_contended();
                usage.demand += change;
                let is_felt = was_contended || usage.is_contended();
                if is_felt && !std::mem::replace(&mut usage.is_concerned, true) {
                    self.concerned.push(capacity);
                }
            }
            // Even where nobody else feels it, its rate is another one.
            if !std::mem::replace(&mut entry.is_concerned, true) {
                self.waiting.push(flow);
            }
        }
    }

    /// Whether the last change concerns anybody but the flow that came or went.
    pub fn is_disturbed(&self) -> bool {
        !self.concerned.is_empty()
    }

    /// Tells `assign` the rates of all flows that share a contended capacity with the one that came
    /// or went last, directly or through others, by progressive filling: all rates rise together;
    /// a flow stops at its cap, or where a capacity of its path is used up.
    pub fn share(&mut self, mut assign: impl FnMut(usize, f64)) {
        self.gather();
        while !self.waiting.is_empty() {
            let (level, bottleneck) = self.next_level();
            // Those who stop at their caps first: they leave more to others.
            if !self.settle(level, None, &mut assign) {
                self.settle(level, Some(bottleneck), &mut assign);
            }
        }
        for capacity in &self.concerned {
            self.capacities[capacity.index()].is_concerned = false;
        }
    }

    /// Finds whom a change concerns, from the capacities where it is felt first.
    fn gather(&mut self) {
        let Self { capacities, flows, concerned, waiting, .. } = self;
        for capacity in concerned.iter() {
            capacities[capacity.index()].is_concerned = true;
        }
        let mut next = 0;
        while let Some(&capacity) = concerned.get(next) {
            next += 1;
            let usage = &mut capacities[capacity.index()];
            let members = std::mem::take(&mut usage.members);
            (usage.left, usage.sharers) = (usage.limit, members.len());
            for flow in members.iter() {
                let entry = &mut flows[flow];
                if std::mem::replace(&mut entry.is_concerned, true) {
                    continue;
                }
                waiting.push(flow);
                for &other in &entry.path {
                    let usage = &mut capacities[other.index()];
                    if usage.is_contended() && !std::mem::replace(&mut usage.is_concerned, true) {
                        concerned.push(other);
                    }
                }
            }
            capacities[capacity.index()].members = members;
        }
    }

    /// How far the rates of all who wait can rise, and which capacity is used up then.
    fn next_level(&self) -> (f64, usize) {
        let mut lowest = (f64::INFINITY, 0);
        for capacity in &self.concerned {
            let usage = &self.capacities[capacity.index()];
            let level = usage.left / f64::from(usage.sharers);
            if usage.sharers > 0 && level < lowest.0 {
                lowest = (level, capacity.index());
            }
        }
        lowest
    }

    /// Gives those who wait and whose caps are no higher than `level` their caps, or the members of a
    /// bottleneck that level; whether there was anybody.
    fn settle(
        &mut self,
        level: f64,
        bottleneck: Option<usize>,
        assign: &mut impl FnMut(usize, f64),
    ) -> bool {
        let Self { capacities, flows, concerned, waiting, .. } = self;
        let before = waiting.len();
        let mut left = 0;
        for index in 0..before {
            let flow = waiting[index];
            let entry = &mut flows[flow];
            let (settles, rate) = match bottleneck {
                None => (entry.cap <= level, entry.cap),
                Some(bottleneck) => (capacities[bottleneck].members.contains(flow), level),
            };
            if !settles {
                waiting[left] = flow;
                left += 1;
                continue;
            }
            assign(flow, rate);
            entry.is_concerned = false;
            for capacity in concerned.iter() {
                let usage = &mut capacities[capacity.index()];
                if usage.members.contains(flow) {
                    usage.left -= rate;
                    usage.sharers -= 1;
                }
            }
        }
        waiting.truncate(left);
        left < before
    }
}

const BITS: usize = u64::BITS as usize;

/// A set of numbers as the bits of words: as long as the largest number needs.
#[derive(Default)]
pub(super) struct Set {
    /// The word of the lowest numbers, which are mostly all.
    lowest: u64,
    further: Vec<u64>,
}

impl Set {
    pub fn insert(&mut self, number: usize) {
        if number < BITS {
            self.lowest |= 1 << number;
            return;
        }
        let further = number / BITS - 1;
        if self.further.len() <= further {
            self.further.resize(further + 1, 0);
        }
        self.further[further] |= 1 << (number % BITS);
    }

    pub fn remove(&mut self, number: usize) {
        let word = match number < BITS {
            true => &mut self.lowest,
            false => &mut self.further[number / BITS - 1],
        };
        *word &= !(1 << (number % BITS));
    }

    pub fn contains(&self, number: usize) -> bool {
        let word = match number < BITS {
            true => self.lowest,
            false => self.further.get(number / BITS - 1).copied().unwrap_or(0),
        };
        word >> (number % BITS) & 1 == 1
    }

    pub fn is_empty(&self) -> bool {
        self.lowest == 0 && self.further.iter().all(|&word| word == 0)
    }

    pub fn len(&self) -> u32 {
        let further: u32 = self.further.iter().map(|word| word.count_ones()).sum();
        self.lowest.count_ones() + further
    }

    /// The numbers, rising.
    pub fn iter(&self) -> Numbers<'_> {
        Numbers { word: self.lowest, further: &self.further, base: 0 }
    }
}

/// The numbers of a set that are still to come.
pub(super) struct Numbers<'a> {
    word: u64,
    further: &'a [u64],
    /// The number of the lowest bit of `word`.
    base: usize,
}

impl Iterator for Numbers<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            let (&word, further) = self.further.split_first()?;
            (self.word, self.further) = (word, further);
            self.base += BITS;
        }
        let number = self.base + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_gives_back_in_order_what_is_in_it() {
        let mut set = Set::default();
        for number in [130, 0, 63, 64, 5] {
            set.insert(number);
        }
        set.remove(5);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 130]);
        assert!(set.contains(64) && !set.contains(5) && !set.contains(1000));
        assert_eq!(set.len(), 4);
        for number in [0, 63, 64, 130] {
            set.remove(number);
        }
        assert!(set.is_empty());
    }
}
