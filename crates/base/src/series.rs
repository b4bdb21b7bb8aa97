//! Coefficients of the series by which programs compute exponential and logarithm: those of the host
//! and those of the accelerators take the same.

/// ln 2 in two parts: the first is cut off behind 32 bits, so that its products with whole numbers
/// below 2^20 are exact.
pub const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// 1/n! from n = 13 down to 0, the coefficients of e^r. With |r| <= ln(2)/2 the first term left out
/// is r^14/14! < 5e-18.
pub const EXPONENTIAL: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
    1.0,
    1.0,
];

/// 2/(2n + 1) from n = 11 down to 1: of 2 artanh f = 2f + f (2/3 f^2 + 2/5 f^4 + ...). With
/// |f| <= 0.1716, for (1 + f)/(1 - f) up to the square root of 2, the first term left out is
/// 2/25 f^24 < 4e-20 of f.
pub const LOGARITHM: [f64; 11] = [
    2.0 / 23.0,
    2.0 / 21.0,
    2.0 / 19.0,
    2.0 / 17.0,
    2.0 / 15.0,
    2.0 / 13.0,
    2.0 / 11.0,
    2.0 / 9.0,
    2.0 / 7.0,
    2.0 / 5.0,
    2.0 / 3.0,
];
