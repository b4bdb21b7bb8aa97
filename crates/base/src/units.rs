//! Quantities with their units.
//!
//! Two time lines exist and never mix: *cycles* of a processor's clock, and *virtual time* of the
//! simulation. An instant ([`SimTime`]) is not a span ([`SimSpan`]). Model times are [`Seconds`].

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use serde::Deserialize;

/// A duration predicted by or fed to the model \[s\]; finite, may be zero.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Deserialize)]
pub struct Seconds(pub f64);

impl Sum for Seconds {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        // From +0: the sum of no floats would be -0, and be printed so.
        Self(spans.fold(0.0, |sum, span| sum + span.0))
    }
}

impl fmt::Display for Seconds {
    /// Four significant digits with the unit that suits the size: `12.35 ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        let (scale, unit) = match magnitude {
            0.0 => (1.0, "s"),
            x if x < 1e-6 => (1e9, "ns"),
            x if x < 1e-3 => (1e6, "us"),
            x if x < 1.0 => (1e3, "ms"),
            _ => (1.0, "s"),
        };
        let scaled = self.0 * scale;
        let digits_before = if scaled == 0.0 { 0 } else { scaled.abs().log10().floor() as i32 };
        let decimals = (3 - digits_before).clamp(0, 3) as usize;
        write!(f, "{scaled:.decimals$} {unit}")
    }
}

/// A count of processor clock cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
pub struct Cycles(pub u64);

impl AddAssign for Cycles {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Cycles {
    /// The time that so many cycles take at `clock`, rounded to the nearest tick.
    #[inline]
    pub fn at(self, clock: Hertz) -> SimSpan {
        SimSpan::from_seconds(Seconds(self.0 as f64 / clock.0))
    }
}

/// A frequency \[Hz\], positive.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize)]
pub struct Hertz(pub f64);

/// A size or an offset \[bytes\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
pub struct Bytes(pub u64);

/// A rate of data transfer [bytes/s], positive.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize)]
pub struct BytesPerSecond(pub f64);

/// Ticks of virtual time in a second: a tick is a femtosecond, so that a cycle at 3.2 GHz
/// (312.5 ps) is a whole number of them, and a `u64` holds five hours.
const TICKS_PER_SECOND: f64 = 1e15;

/// An instant of virtual time, counted from the start of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SimTime(u64);

/// Ticks as a number: what `as` gives, by an instruction where they are fewer than 2^63.
#[inline]
fn as_number(ticks: u64) -> f64 {
    i64::try_from(ticks).map_or(ticks as f64, |ticks| ticks as f64)
}

/// A span of virtual time, never negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SimSpan(u64);

impl SimTime {
    /// The start of every simulation.
    pub const ZERO: Self = Self(0);

    /// The span from `earlier` to this instant; zero if `earlier` is the later one.
    #[inline]
    pub fn since(self, earlier: Self) -> SimSpan {
        SimSpan(self.0.saturating_sub(earlier.0))
    }

    /// Seconds from the start of the simulation.
    #[inline]
    pub fn seconds(self) -> Seconds {
        Seconds(as_number(self.0) / TICKS_PER_SECOND)
    }

    /// Femtoseconds from the start of the simulation.
    pub const fn ticks(self) -> u64 {
        self.0
    }
}

impl SimSpan {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of so many femtoseconds.
    pub const fn from_ticks(ticks: u64) -> Self {
        Self(ticks)
    }

    /// Rounds to the nearest tick; a negative span becomes zero.
    #[inline]
    pub fn from_seconds(span: Seconds) -> Self {
        // What `f64::round` gives, without the call: the difference is exact.
        let ticks = span.0 * TICKS_PER_SECOND;
        // Conversions of signed numbers are an instruction each, others several.
        if (0.0..i64::MAX as f64).contains(&ticks) {
            let whole = ticks as i64;
            return Self(whole as u64 + u64::from(ticks - whole as f64 >= 0.5));
        }
        let whole = ticks as u64;
        Self(whole.saturating_add(u64::from(ticks - whole as f64 >= 0.5)))
    }

    /// The span in seconds.
    #[inline]
    pub fn seconds(self) -> Seconds {
        Seconds(as_number(self.0) / TICKS_PER_SECOND)
    }

    /// The span in femtoseconds.
    pub const fn ticks(self) -> u64 {
        self.0
    }
}

impl AddAssign for SimSpan {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sum for SimSpan {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        Self(spans.map(|span| span.0).sum())
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.seconds().fmt(f)
    }
}

/// Operators of quantities, by those of the numbers within them.
macro_rules! operators {
    ($($operator:ident $method:ident: $type:ident, $other:ty, |$one:ident, $by:ident| $value:expr;)+) => {$(
        impl $operator<$other> for $type {
            type Output = Self;
            #[inline]
            fn $method(self, other: $other) -> Self {
                let ($one, $by) = (self, other);
                Self($value)
            }
        }
    )+};
}

operators! {
    Add add: Seconds, Seconds, |one, other| one.0 + other.0;
    Sub sub: Seconds, Seconds, |one, other| one.0 - other.0;
    Mul mul: Seconds, f64, |span, factor| span.0 * factor;
    Div div: Seconds, f64, |span, divisor| span.0 / divisor;
    Add add: Cycles, Cycles, |one, other| one.0 + other.0;
    Add add: SimSpan, SimSpan, |one, other| one.0 + other.0;
    Mul mul: SimSpan, u64, |span, count| span.0 * count;
    // Zero if the other is longer.
    Sub sub: SimSpan, SimSpan, |one, other| one.0.saturating_sub(other.0);
    Add add: SimTime, SimSpan, |instant, span| instant.0.checked_add(span.0)
        .expect("invariant: a simulation lasts less than 5 hours");
}

/// A part of a whole, as it is printed: `3.1 %`, `27 %`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percent(pub f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.0;
        let digits = usize::from(percent < 9.95);
        write!(f, "{percent:.digits$} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_at_3_2_ghz_is_312500_ticks() {
        assert_eq!(Cycles(1).at(Hertz(3.2e9)), SimSpan::from_ticks(312_500));
    }

    #[test]
    fn every_unit_prefix_is_printed_at_its_place() {
        for (value, text) in [
            (0.0, "0.000 s"),
            (70e-9, "70.00 ns"),
            (2e-6, "2.000 us"),
            (12.345e-3, "12.35 ms"),
            (1.0, "1.000 s"),
            (376.02, "376.0 s"),
        ] {
            assert_eq!(Seconds(value).to_string(), text);
        }
    }

    #[test]
    fn a_span_is_rounded_as_f64_rounds() {
        for ticks in [0.0, 0.49999999999999994, 0.5, 1.5, 2.5, -0.7, 2f64.powi(52) + 1.0, 1e30] {
            let span = Seconds(ticks / TICKS_PER_SECOND);
            let rounded = (span.0 * TICKS_PER_SECOND).round() as u64;
            assert_eq!(SimSpan::from_seconds(span).ticks(), rounded, "{ticks}");
        }
    }

    #[test]
    fn a_span_between_instants_is_never_negative() {
        let later = SimTime::ZERO + SimSpan::from_ticks(5);
        assert_eq!(later.since(SimTime::ZERO), SimSpan::from_ticks(5));
        assert_eq!(SimTime::ZERO.since(later), SimSpan::ZERO);
    }
}
