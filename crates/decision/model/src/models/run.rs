//! Equation 11, the time of a whole run, for data and for task decomposition.

use super::parameters::{Decomposition, Interpolation, OverM, Parameters, Phase, Table, Terms};
use super::time_model::Part;
use mmgp_base::Mapping;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Seconds;

/// The terms of equation 11 at one (m, p) \[s\]; their sum is the time of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Breakdown {
    /// `alpha_m*T_HPU(1,1)`.
    pub hpu_s: f64,
    /// `T_APU(1,1)/(m*p)`.
    pub apu_s: f64,
    /// `C_APU`.
    pub apu_serial_s: f64,
    /// `N*O_offload`.
    pub offload_s: f64,
    /// `N*T_CSW`.
    pub context_switch_s: f64,
    /// `N*O_COL`, N being the number of collectives where they are counted.
    pub collective_s: f64,
    /// `N*p*g`.
    pub gap_s: f64,
}

impl Breakdown {
    /// The terms with their symbols, in the order of the equation.
    pub fn parts(&self) -> [Part; 7] {
        [
            ("alpha_m*T_HPU", self.hpu_s),
            ("T_APU/(m*p)", self.apu_s),
            ("C_APU", self.apu_serial_s),
            ("N*O_offload", self.offload_s),
            ("N*T_CSW", self.context_switch_s),
            ("N*O_COL", self.collective_s),
            ("N*p*g", self.gap_s),
        ]
        .map(|(name, time_s)| Part { name, time: Seconds(time_s) })
    }

    /// The sum of all terms.
    pub fn total(&self) -> Seconds {
        Seconds(
            self.hpu_s
                + self.apu_s
                + self.apu_serial_s
                + self.offload_s
                + self.context_switch_s
                + self.collective_s
                + self.gap_s,
        )
    }
}

/// Equation 11 at a fixed m, as a function of p alone: `constant + shared/p + growing*p` \[s\].
///
/// It is convex in p, which a search can use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// What does not depend on p.
    pub constant: f64,
    /// What p APUs share.
    pub shared: f64,
    /// What every further APU adds.
    pub growing: f64,
}

impl Row {
    /// The time with p APUs for each thread.
    #[inline]
    pub fn at(&self, p: u32) -> Seconds {
        let p = f64::from(p);
        Seconds(self.constant + self.shared / p + self.growing * p)
    }
}

/// What falls to the slowest of m threads with p APUs each.
pub(super) struct Share {
    /// The fraction of the totals that it runs: 1, or R/B of a task decomposition.
    pub fraction: f64,
    /// Into how many pieces its shared APU time is cut.
    pub pieces: f64,
}

impl Parameters {
    /// The time of a run.
    ///
    /// This is the equation alone: it also answers for `m * p > N_APU`. Ask [`Self::check`] for
    /// what the machine can hold.
    pub fn time(&self, mapping: Mapping) -> Seconds {
        self.row(mapping.m()).at(mapping.p())
    }

    /// Whether the machine has the APUs for a mapping.
    ///
    /// # Errors
    /// [`Error::Infeasible`] where it has not.
    pub fn check(&self, mapping: Mapping) -> Result<()> {
        let (m, p) = (mapping.m(), mapping.p());
        if mapping.apus() > u64::from(self.apus) {
            return Err(Error::Infeasible { m, p, apus: self.apus });
        }
        Ok(())
    }

    /// Equation 11 at a fixed m, at least 1.
    pub fn row(&self, m: u32) -> Row {
        let at_one = self.breakdown(Mapping::of(m, 1));
        Row {
            constant: at_one.hpu_s
                + at_one.apu_serial_s
                + at_one.offload_s
                + at_one.context_switch_s
                + at_one.collective_s,
            shared: at_one.apu_s,
            growing: at_one.gap_s,
        }
    }

    /// The terms of the time at (m, p).
    ///
    /// `T(m,p) = alpha_m*T_HPU + T_APU/(m*p) + C_APU + N*(O_offload + T_CSW + O_COL + p*g)`
    /// (eq. 11, data decomposition). With B independent tasks dealt to m workers in
    /// `R = ceil(B/m)` rounds, and totals over all tasks, it becomes
    /// `T(m,p) = (R/B) * [alpha_m*T_HPU + T_APU/p + C_APU + N*(O_offload + T_CSW + O_COL + p*g)]`.
    pub fn breakdown(&self, mapping: Mapping) -> Breakdown {
        let terms = &self.terms;
        let (m, apus) = (mapping.m(), f64::from(mapping.p()));
        let Share { fraction, pieces } = self.share(m, mapping.p());
        let offloads = fraction * terms.offloads.value;
        let collectives = fraction * terms.collectives.as_ref().unwrap_or(&terms.offloads).value;
        Breakdown {
            hpu_s: fraction * terms.alpha_at(m) * terms.t_hpu_s.value,
            apu_s: fraction * terms.t_apu_s.value / pieces,
            apu_serial_s: fraction * terms.c_apu_s.value,
            offload_s: offloads * terms.o_offload_s.value,
            context_switch_s: offloads * terms.t_csw_s.value,
            collective_s: collectives * terms.o_col_at(m),
            gap_s: offloads * apus * terms.g_s.value,
        }
    }

    /// What falls to the slowest thread at (m, p).
    pub(super) fn share(&self, m: u32, p: u32) -> Share {
        let (threads, apus) = (f64::from(m), f64::from(p));
        match self.decomposition {
            Decomposition::Data => Share { fraction: 1.0, pieces: threads * apus },
            Decomposition::Task { tasks } => {
                let rounds = f64::from(tasks.div_ceil(m));
                Share { fraction: rounds / f64::from(tasks), pieces: apus }
            }
        }
    }

    /// The parameters of one phase alone: its own terms, and the machine's.
    pub fn of_phase(&self, phase: &Phase) -> Parameters {
        let name = format!("{} / {}", self.name, phase.name);
        let Phase { t_hpu_s, t_apu_s, c_apu_s, offloads, g_s, collectives, .. } = phase.clone();
        let machine = self.terms.clone();
        let terms = Terms { t_hpu_s, t_apu_s, c_apu_s, offloads, g_s, collectives, ..machine };
        let quantity = self.quantity.clone();
        Self { quantity, ..Self::new(name, self.decomposition, self.apus, terms) }
    }
}

impl Terms {
    /// alpha_m; 1 at m = 1 whatever the table says.
    pub fn alpha_at(&self, m: u32) -> f64 {
        if m == 1 { 1.0 } else { self.alpha.at(m, 1.0) }
    }

    /// O_COL at m ranks \[s\]; a table that starts above m = 1 starts from nothing at m = 1.
    pub fn o_col_at(&self, m: u32) -> f64 {
        self.o_col_s.at(m, 0.0)
    }

    /// Slowdown like [`Self::alpha_at`], but linear in the entries of the table even where that leads below
    /// 0.
    pub(crate) fn linear_alpha_at(&self, m: u32) -> f64 {
        if m == 1 { 1.0 } else { self.alpha.at_or_above(f64::NEG_INFINITY, m, 1.0) }
    }

    /// Cost like [`Self::o_col_at`], but linear in the entries of the table even where that leads below 0.
    pub(crate) fn linear_o_col_at(&self, m: u32) -> f64 {
        self.o_col_s.at_or_above(f64::NEG_INFINITY, m, 0.0)
    }
}

impl OverM {
    /// The value at m: a number is the same for all m; a table is interpolated as it says, from
    /// `at_one` at m = 1 where it starts later; one that goes on beyond its last m ends at 0.
    pub fn at(&self, m: u32, at_one: f64) -> f64 {
        self.at_or_above(0.0, m, at_one)
    }

    /// Value like [`Self::at`], with the least that a table goes on to.
    fn at_or_above(&self, least: f64, m: u32, at_one: f64) -> f64 {
        match self {
            OverM::Constant(estimate) => estimate.value,
            OverM::Table(table) => table.at_or_above(least, m, at_one),
        }
    }

    /// The m beyond which nothing is known, so that the last value is held; `None` where there is
    /// no such m.
    pub fn held_beyond(&self) -> Option<u32> {
        match self {
            OverM::Table(table) if table.interpolation == Interpolation::Held => {
                table.m.last().copied()
            }
            _ => None,
        }
    }
}

impl Table {
    fn at_or_above(&self, least: f64, m: u32, at_one: f64) -> f64 {
        let Neighbours { low, high, position } = self.neighbours(m);
        let high = self.values[high].value;
        if position == 1.0 {
            return high;
        }
        let low = low.map_or(at_one, |low| self.values[low].value);
        let value = low + (high - low) * position;
        if position > 1.0 { value.max(least) } else { value }
    }

    /// The entries between which m lies, or beyond which. A table has at least one entry.
    pub(super) fn neighbours(&self, m: u32) -> Neighbours {
        let (last, after) = (self.m.len() - 1, self.m.partition_point(|&known| known < m));
        let high = after.min(last);
        let low = high.checked_sub(1);
        let (low_m, high_m) = (low.map_or(1, |low| self.m[low]), self.m[high]);
        let is_held = after > last && self.interpolation == Interpolation::Held;
        // One entry at m = 1 has no slope.
        if high_m == m || is_held || low_m == high_m {
            return Neighbours { low: None, high, position: 1.0 };
        }
        Neighbours { low, high, position: self.interpolation.position(m, low_m, high_m) }
    }
}

/// Entries of a table between which a value of m lies.
pub(super) struct Neighbours {
    /// The entry below; `None` for what is fixed at m = 1, or where `position` is 1.
    pub low: Option<usize>,
    /// The entry at m or above, or the last.
    pub high: usize,
    /// How far m is from the one below to the one above: 1 at an entry and where the last is held,
    /// more than 1 where the table goes on beyond it.
    pub position: f64,
}

#[cfg(test)]
mod tests {
    use super::super::parameters::Estimate;
    use super::*;
    use crate::toy::parameters;

    #[test]
    fn data_decomposition_by_hand() {
        // 1.25*2 + 32/(2*4) + 1 + 8*(0.125 + 0.25 + 4*0.5) + 4*0.0625 = 26.75
        assert_eq!(parameters(Decomposition::Data).time(Mapping::of(2, 4)), Seconds(26.75));
    }

    #[test]
    fn task_decomposition_by_hand() {
        // 6 tasks on 4 workers: 2 rounds, so a third of
        // 1.5*2 + 32/2 + 1 + 8*(0.125 + 0.25 + 2*0.5) + 4*0.5 = 33 is spent.
        let time = parameters(Decomposition::Task { tasks: 6 }).time(Mapping::of(4, 2));
        approx::assert_relative_eq!(time.0, 33.0 / 3.0, max_relative = 1e-15);
    }

    #[test]
    fn a_row_is_equation_11_at_its_m() {
        for decomposition in [Decomposition::Data, Decomposition::Task { tasks: 7 }] {
            let parameters = parameters(decomposition);
            for (m, p) in [(1, 1), (3, 5), (16, 1)] {
                let breakdown = parameters.breakdown(Mapping::of(m, p)).total().0;
                approx::assert_relative_eq!(
                    parameters.row(m).at(p).0,
                    breakdown,
                    max_relative = 1e-14
                );
            }
        }
    }

    #[test]
    fn phases_add_up_to_the_run() {
        let whole = parameters(Decomposition::Data);
        let part = |share: f64| Phase {
            name: format!("{share}"),
            t_hpu_s: Estimate::exact(2.0 * share),
            t_apu_s: Estimate::exact(32.0 * share),
            c_apu_s: Estimate::exact(share),
            offloads: Estimate::exact(8.0 * share),
            g_s: Estimate::exact(0.5),
            collectives: Some(Estimate::exact(4.0 * share)),
        };
        let sum =
            |m, p| [0.25, 0.75].map(|share| whole.of_phase(&part(share)).time(Mapping::of(m, p)).0);
        approx::assert_relative_eq!(
            whole.time(Mapping::of(3, 4)).0,
            sum(3, 4).iter().sum(),
            max_relative = 1e-14
        );
    }

    #[test]
    fn a_table_is_interpolated_within_and_held_constant_beyond() {
        let terms = parameters(Decomposition::Data).terms;
        let alphas = [1, 2, 3, 4, 16].map(|m| terms.alpha_at(m));
        assert_eq!(alphas, [1.0, 1.25, 1.375, 1.5, 1.5]);
        assert_eq!([1, 2, 3].map(|m| terms.o_col_at(m)), [0.0, 0.0625, 0.28125]);
        let number = OverM::Constant(Estimate::exact(1.28));
        let terms = Terms { alpha: number.clone(), o_col_s: number, ..terms };
        assert_eq!([1, 2, 9].map(|m| terms.alpha_at(m)), [1.0, 1.28, 1.28]);
        assert_eq!([1, 2].map(|m| terms.o_col_at(m)), [1.28, 1.28]);
    }

    #[test]
    fn a_line_and_a_logarithm_go_on_beyond_their_last_m() {
        let table = |m: &[u32], values: &[f64], interpolation| {
            let values = values.iter().copied().map(Estimate::exact).collect();
            OverM::Table(Table { interpolation, ..Table::new(m.to_vec(), values) })
        };
        let line = table(&[2, 4, 8], &[1.0, 1.5, 3.5], Interpolation::Line);
        assert_eq!([2, 3, 6, 8, 9, 12].map(|m| line.at(m, 0.5)), [1.0, 1.25, 2.5, 3.5, 4.0, 5.5]);
        assert_eq!(line.at(1, 0.5), 0.5);
        let logarithm = table(&[2, 8], &[1.0, 3.0], Interpolation::Logarithm);
        assert_eq!(
            [1, 2, 4, 8, 16, 64].map(|m| logarithm.at(m, 0.5)),
            [0.5, 1.0, 2.0, 3.0, 4.0, 6.0]
        );
        // One entry goes on from what the term is at m = 1, where that is not the entry.
        let single = |m, interpolation| table(&[m], &[3.0], interpolation);
        assert_eq!(single(5, Interpolation::Line).at(9, 1.0), 5.0);
        assert_eq!(single(4, Interpolation::Logarithm).at(16, 1.0), 5.0);
        assert_eq!(single(1, Interpolation::Line).at(16, 1.0), 3.0);
        let held = [line, logarithm, single(1, Interpolation::Held)].map(|term| term.held_beyond());
        assert_eq!(held, [None, None, Some(1)]);
    }

    #[test]
    fn a_falling_line_ends_at_nothing() {
        let mut parameters = parameters(Decomposition::Data);
        let values = [1.0, 0.5].map(Estimate::exact).to_vec();
        let falling =
            Table { interpolation: Interpolation::Line, ..Table::new(vec![1, 3], values) };
        parameters.terms.alpha = OverM::Table(falling.clone());
        parameters.terms.o_col_s = OverM::Table(falling);
        let terms = &parameters.terms;
        assert_eq!([4, 5, 9].map(|m| terms.alpha_at(m)), [0.25, 0.0, 0.0]);
        assert_eq!([4, 5, 9].map(|m| terms.o_col_at(m)), [0.25, 0.0, 0.0]);
        assert_eq!(parameters.breakdown(Mapping::of(9, 1)).hpu_s, 0.0);
    }

    #[test]
    fn a_configuration_needs_its_apus() {
        let parameters = parameters(Decomposition::Data);
        assert!(parameters.check(Mapping::of(4, 4)).is_ok());
        let error = parameters.check(Mapping::of(5, 4)).unwrap_err().to_string();
        assert_eq!(error, "m = 5, p = 4 needs 20 APUs, but there are 16");
    }

    #[test]
    fn at_an_entry_of_a_table_no_other_counts() {
        let values = [1.0, 1.5, 3.5].map(Estimate::exact).to_vec();
        let line =
            Table { interpolation: Interpolation::Line, ..Table::new(vec![2, 4, 8], values) };
        for (high, m) in [2, 4, 8].into_iter().enumerate() {
            let found = line.neighbours(m);
            assert_eq!((found.low, found.high, found.position), (None, high, 1.0));
        }
        let between = line.neighbours(5);
        assert_eq!((between.low, between.high, between.position), (Some(1), 2, 0.25));
    }

    mod of_one_phase {
        //! Equations 1 to 10 of the paper, for one off-load and one phase, and that equation 11 is their
        //! sum.

        use super::super::super::parameters::{Decomposition, Estimate, OverM};
        use mmgp_base::Mapping;
        use mmgp_base::units::Seconds;

        /// `C_ij = O_i + L + O_j` (eq. 1).
        fn message(send_overhead: Seconds, latency: Seconds, receive_overhead: Seconds) -> Seconds {
            send_overhead + latency + receive_overhead
        }

        /// `T_offload(w2) = T_APU(w2) + O_r + O_s` (eq. 2).
        fn offloaded_task(apu: Seconds, [receive, send]: [Seconds; 2]) -> Seconds {
            apu + receive + send
        }

        /// `T = T_HPU(w1) + T_APU(w2) + O_r + O_s + T_HPU(w3)` (eq. 3).
        fn one_offload(
            hpu_before: Seconds,
            apu: Seconds,
            [receive, send]: [Seconds; 2],
            hpu_after: Seconds,
        ) -> Seconds {
            hpu_before + apu + receive + send + hpu_after
        }

        /// `T = T_HPU + T_APU + O_offload` (eq. 4); eq. 5 is its sum over the phases.
        fn phase(hpu: Seconds, apu: Seconds, offload_overhead: Seconds) -> Seconds {
            hpu + apu + offload_overhead
        }

        /// `T_APU,i(1,p) = T_APU,i(1,1)/p + C_APU,i` (eq. 6), and (eq. 9) with the 1/m of one of m threads
        /// in T_APU,i.
        fn apu_time(parallel: Seconds, p: u32, serial: Seconds) -> Seconds {
            parallel / f64::from(p) + serial
        }

        /// `T_HPU,i^k(m,p) = alpha_m*T_HPU,i(1,p) + T_CSW + O_COL` (eq. 10).
        fn hpu_time(
            alpha: f64,
            hpu: Seconds,
            context_switch: Seconds,
            collective: Seconds,
        ) -> Seconds {
            hpu * alpha + context_switch + collective
        }

        /// `T_i^k(m,p) = T_HPU,i^k(m,p) + T_APU,i^k(m,p) + O_offload + p*g` (eq. 8; eq. 7 for m = 1).
        fn thread_time(
            hpu: Seconds,
            apu: Seconds,
            offload_overhead: Seconds,
            p: u32,
            gap: Seconds,
        ) -> Seconds {
            phase(hpu, apu, offload_overhead) + gap * f64::from(p)
        }

        #[test]
        fn an_off_load_by_hand() {
            let [one, two, eight] = [1.0, 2.0, 8.0].map(Seconds);
            let ends = [Seconds(0.25), Seconds(0.5)];
            assert_eq!(message(one, two, eight), Seconds(11.0));
            let whole = one_offload(one, eight, ends, two);
            assert_eq!(whole, phase(one + two, eight, ends[0] + ends[1]));
            assert_eq!(whole, one + two + offloaded_task(eight, ends));
            // 1 + 12/4 + 0.5 + 0.25 + 4*0.125
            let apu = apu_time(Seconds(12.0), 4, Seconds(0.5));
            assert_eq!(thread_time(one, apu, Seconds(0.25), 4, Seconds(0.125)), Seconds(5.25));
        }

        #[test]
        fn equation_11_is_their_sum_over_equal_phases() {
            let mut parameters = crate::toy::parameters(Decomposition::Data);
            parameters.terms.alpha = OverM::Constant(Estimate::exact(1.5));
            parameters.terms.o_col_s = OverM::Constant(Estimate::exact(0.0625));
            let terms = parameters.terms.clone();
            for (m, p) in [(1, 1), (1, 4), (4, 3), (16, 1)] {
                let per_phase =
                    |estimate: &Estimate| Seconds(estimate.value / terms.offloads.value);
                let [switch, gap] = [&terms.t_csw_s, &terms.g_s].map(|term| Seconds(term.value));
                // Four collectives in eight phases: half a collective in each.
                let collective = Seconds(terms.o_col_at(m) / 2.0);
                let hpu =
                    hpu_time(terms.alpha_at(m), per_phase(&terms.t_hpu_s), switch, collective);
                let parallel = per_phase(&terms.t_apu_s) / f64::from(m);
                let apu = apu_time(parallel, p, per_phase(&terms.c_apu_s));
                let phase = thread_time(hpu, apu, Seconds(terms.o_offload_s.value), p, gap);
                approx::assert_relative_eq!(
                    parameters.time(Mapping::of(m, p)).0,
                    (phase * terms.offloads.value).0,
                    max_relative = 1e-14
                );
            }
        }
    }
}
