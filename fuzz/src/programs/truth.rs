//! Programs whose every term is known.

use mmgp::models::Parameters;
use mmgp::models::parameters::{Decomposition, Estimate, OverM, Table, Terms};
use mmgp::models::refined::Refinements;

use crate::random::Random;

/// A program that somebody could have written: it takes from a millisecond to a day, and every term
/// has a part in it that is neither nothing nor all.
pub fn program(random: &mut Random, is_refined: bool) -> Parameters {
    let apus = random.pick(&[4, 8, 16, 16, 16]);
    let decomposition = match random.happens(0.3) {
        true => Decomposition::Task { tasks: random.within(apus, 4 * apus) },
        false => Decomposition::Data,
    };
    let seconds = random.power(-3.0, 5.0);
    let offloads = random.power(1.0, 6.0).round();
    let per_offload = seconds / offloads;
    let mut share = |low: f64, high: f64| Estimate::exact(random.power(low.log10(), high.log10()));
    let (t_hpu, t_apu, c_apu) = (share(0.01, 0.4), share(0.3, 3.0), share(0.003, 0.2));
    let each = [share(1e-4, 0.03), share(1e-4, 0.03), share(1e-4, 0.01), share(1e-4, 0.03)];
    let (slope, bend) = (share(0.01, 0.3).value, share(0.5, 1.5).value);
    // A form of the model's own, or another.
    let bend = if bend > 0.8 { 1.0 } else { bend };
    let scaled = |estimate: Estimate, by: f64| Estimate::exact(estimate.value * by);
    let [o_offload_s, t_csw_s, g_s, o_col] = each.map(|it| scaled(it, per_offload));
    let alpha = |m: u32| Estimate::exact(1.0 + slope * f64::from(m - 1).powf(bend));
    let terms = Terms {
        t_hpu_s: scaled(t_hpu, seconds),
        t_apu_s: scaled(t_apu, seconds),
        c_apu_s: scaled(c_apu, seconds),
        collectives: Some(Estimate::exact(offloads)),
        offloads: Estimate::exact(offloads),
        o_offload_s,
        t_csw_s,
        g_s,
        alpha: OverM::Table(Table::new((1..=apus).collect(), (1..=apus).map(alpha).collect())),
        o_col_s: OverM::Constant(o_col),
    };
    let mut parameters = Parameters::new("truth", decomposition, apus, terms);
    if is_refined {
        parameters.refinements = Some(Refinements {
            iterations: random.happens(0.5).then(|| random.within(apus, 20 * apus)),
            hardware_contexts: random.happens(0.5).then(|| random.within(2, 4)),
            work_growth_s: random
                .happens(0.5)
                .then(|| Estimate::exact(seconds * random.power(-4.0, -2.0))),
            ..Refinements::default()
        });
    }
    parameters
}
