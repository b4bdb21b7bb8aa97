//! `[[phases]]`: the parts of a program, which must add up to the whole.

use super::super::parameters::{Estimate, Phase, Terms};
use super::read_estimate;
use mmgp_base::error::Result;
use mmgp_base::table::toml;

/// How far the sum over the phases may lie from the whole, of the larger of the two: what
/// rounding to six digits by hand does, and no more.
const TOLERANCE: f64 = 1e-6;

pub(super) fn read(root: &toml::Table<'_>, terms: &Terms) -> Result<Vec<Phase>> {
    let phases: Vec<Phase> = root
        .tables("phases")?
        .iter()
        .map(|phase| read_phase(phase, terms))
        .collect::<Result<_>>()?;
    if !phases.is_empty() {
        check_sums(root, terms, &phases)?;
    }
    Ok(phases)
}

/// A phase counts its collectives if, and only if, the whole does.
fn read_phase(phase: &toml::Table<'_>, whole: &Terms) -> Result<Phase> {
    let collectives = whole.collectives.as_ref().map(|_| "collectives");
    let mut known = vec!["name", "t_hpu_s", "t_apu_s", "c_apu_s", "offloads", "g_s"];
    known.extend(collectives);
    phase.expect_keys(&known)?;
    Ok(Phase {
        name: phase.text("name")?.to_string(),
        t_hpu_s: read_estimate(phase, "t_hpu_s")?,
        t_apu_s: read_estimate(phase, "t_apu_s")?,
        c_apu_s: read_estimate(phase, "c_apu_s")?,
        offloads: read_estimate(phase, "offloads")?,
        g_s: read_estimate(phase, "g_s")?,
        collectives: collectives.map(|key| read_estimate(phase, key)).transpose()?,
    })
}

/// Every term but the gap is a total and adds up; of the gap, which is per off-load, `N*g` does.
fn check_sums(root: &toml::Table<'_>, terms: &Terms, phases: &[Phase]) -> Result<()> {
    let counted = |collectives: &Option<Estimate>| collectives.as_ref().map_or(0.0, |c| c.value);
    let sum = |part: fn(&Phase) -> f64| phases.iter().map(part).sum::<f64>();
    let sums = [
        ("t_hpu_s", sum(|phase| phase.t_hpu_s.value), terms.t_hpu_s.value),
        ("t_apu_s", sum(|phase| phase.t_apu_s.value), terms.t_apu_s.value),
        ("c_apu_s", sum(|phase| phase.c_apu_s.value), terms.c_apu_s.value),
        ("offloads", sum(|phase| phase.offloads.value), terms.offloads.value),
        (
            "offloads * g_s",
            sum(|phase| phase.offloads.value * phase.g_s.value),
            terms.offloads.value * terms.g_s.value,
        ),
        (
            "collectives",
            phases.iter().map(|phase| counted(&phase.collectives)).sum(),
            counted(&terms.collectives),
        ),
    ];
    for (term, sum, whole) in sums {
        if (sum - whole).abs() > TOLERANCE * sum.max(whole) {
            let found = format!("phases whose {term} add up to {sum:?}");
            return Err(root.error("phases", found, format!("{whole:?} as in [terms]")));
        }
    }
    Ok(())
}
