//! Models of substitution: time-reversible rates between the four states, and how rates vary over
//! sites.

/// The order in which six numbers stand for the exchangeabilities: AC, AG, AT, CG, CT, GT.
pub type Exchangeabilities = [f64; 6];

/// A time-reversible model over the states A, C, G, T, scaled to one expected substitution per unit
/// of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Substitution {
    /// r_AC, r_AG, r_AT, r_CG, r_CT, r_GT.
    pub exchangeabilities: Exchangeabilities,
    /// Stationary frequencies of A, C, G, T; they add up to 1.
    pub frequencies: [f64; 4],
    /// What follows from them.
    pub eigen: EigenSystem,
}

/// The rate matrix taken apart: `P_jk(t) = sum_l EI_jl exp(-lambda_l t) V_kl`.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenSystem {
    /// lambda_l >= 0, the zero first.
    pub values: [f64; 4],
    /// `v[j][l]`: V_jl = sqrt(f_j) u_jl, whose first column is f_j.
    pub v: [[f64; 4]; 4],
    /// `ei[j][l]`: EI_jl = V_jl / V_j0.
    pub ei: [[f64; 4]; 4],
}

/// How the rate varies over sites.
#[derive(Debug, Clone, PartialEq)]
pub enum SiteRates {
    /// Every pattern is a mixture of four rates, equally likely: the mean-Gamma of Yang (1994).
    Gamma {
        /// Shape.
        alpha: f64,
        /// The four rates, ascending, of mean 1.
        rates: [f64; 4],
    },
    /// Every pattern has one of up to 25 rates (CAT); one rate of 1 is no variation at all.
    Categories {
        /// The rates.
        rates: Vec<f64>,
        /// For each pattern the index of its rate.
        of_pattern: Vec<u32>,
    },
}

/// A model: substitution and rates over sites.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Between states.
    pub substitution: Substitution,
    /// Over sites.
    pub rates: SiteRates,
}
