//! How a search begins and how it ends.

use std::fmt;

/// How boldly a search begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Damping of the first step, relative to the columns of the Jacobian.
    pub damping: f64,
    /// Whether steps bend with the curvature of the residuals, for one more call of them each.
    pub accelerated: bool,
    /// Steps after which the search gives up.
    pub patience: u64,
}

/// How a search ended at a minimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The step of the linear problem is rounding.
    StepIsRounding,
    /// The residuals vanish but for rounding.
    NothingLeft,
    /// The sum of squares changes by rounding alone, whatever the step.
    SumIsRounding,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StepIsRounding => "converged: the last step is rounding",
            Self::NothingLeft => "converged: no residual is left",
            Self::SumIsRounding => "converged: no step changes the sum of squares",
        })
    }
}
