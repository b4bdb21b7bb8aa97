//! Parameters small enough to compute with by hand, for tests.

use crate::models::Parameters;
use crate::models::parameters::{Decomposition, Estimate, OverM, Table, Terms};

/// A value with its standard error.
pub(crate) fn estimate(value: f64, std_error: f64) -> Estimate {
    Estimate { std_error: Some(std_error), ..Estimate::exact(value) }
}

/// Exact values over m.
pub(crate) fn table(m: &[u32], values: &[f64]) -> OverM {
    let values = values.iter().copied().map(Estimate::exact).collect();
    OverM::Table(Table::new(m.to_vec(), values))
}

/// Parameters on 16 APUs: T_HPU 2, T_APU 32, C_APU 1, 8 off-loads of 125 + 250 + 500*p ms, 4 collectives.
pub(crate) fn parameters(decomposition: Decomposition) -> Parameters {
    let terms = Terms {
        t_hpu_s: Estimate::exact(2.0),
        t_apu_s: Estimate::exact(32.0),
        c_apu_s: Estimate::exact(1.0),
        offloads: Estimate::exact(8.0),
        o_offload_s: Estimate::exact(0.125),
        t_csw_s: Estimate::exact(0.25),
        g_s: Estimate::exact(0.5),
        collectives: Some(Estimate::exact(4.0)),
        alpha: table(&[1, 2, 4], &[1.0, 1.25, 1.5]),
        o_col_s: table(&[2, 4], &[0.0625, 0.5]),
    };
    Parameters::new("toy", decomposition, 16, terms)
}
