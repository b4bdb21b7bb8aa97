//! One off-load as a performance model of StarPU.

use super::left_out::left_out;
use super::names::comment;
use crate::models::parameters::Parameters;

/// One whole off-load at p = 1 has this size, so that sizes, which are whole numbers, can say 1/p.
const WHOLE: u32 = 1_000_000;

/// StarPU trusts a regression over at least so many timings.
const TRUSTED: u32 = 10;

/// A performance-model file of StarPU (version 45) for a codelet that is one off-load, as the
/// nonlinear regression `a*size^b + c` \[us\] for a model of type `STARPU_NL_REGRESSION_BASED`.
///
/// `size` is the share of the loop that falls to each of p APUs in millionths, which the codelet's
/// `size_base` must return: `1000000 / p`. Then `a*size = T_APU/(N*p)`, `b = 1` and
/// `c = C_APU/N + O_offload`: equation 7 for the mean off-load, on one host thread. `p*g`, T_CSW,
/// O_COL, alpha and T_HPU are not carried over: StarPU has no term for what a task costs the host.
/// A program without off-loads gives a model that StarPU takes as not calibrated.
pub fn starpu(parameters: &Parameters) -> String {
    let terms = &parameters.terms;
    let offloads = terms.offloads.value;
    let micro = |seconds: f64| seconds * 1e6;
    let has_offloads = offloads > 0.0;
    let slope = micro(terms.t_apu_s.value) / offloads / f64::from(WHOLE);
    let constant = micro(terms.c_apu_s.value / offloads + terms.o_offload_s.value);
    let regression =
        if has_offloads { format!("{slope:e} 1e0 {constant:e}") } else { "nan nan nan".into() };
    let timings = if has_offloads { TRUSTED } else { 0 };
    let least = WHOLE / parameters.apus.max(2);
    format!(
        "# {name}: one off-load by equation 7 of MMGP, {offloads} in the run.\n\
         # The codelet's size_base must return {WHOLE} / p, the share of each of p APUs.\n\
         # Left out: p*g, T_CSW, O_COL, alpha, T_HPU. {TRUSTED} timings are what StarPU asks for;\n\
         # they stand for the fit that gave the terms.\n{more}\
         # performance model version\n45\n\
         # number of combinations\n1\n\
         # number of device types\n1\n\
         # device type: OpenCL, which stands for the APUs\n2\n\
         # device id\n0\n\
         # number of cores\n1\n\
         # number of implementations\n1\n\
         # entries of the history\n0\n\
         # sumlnx sumlnx2 sumlny sumlnxlny alpha beta n minx maxx\n\
         0 0 0 0 nan nan {timings} {least} {WHOLE}\n\
         # a b c\n{regression}\n\
         # no multiple regression\n0\n",
        name = comment(&parameters.name),
        more = left_out(parameters).map(|it| format!("# {it}\n")).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::everything;
    use super::*;

    #[test]
    fn the_regression_is_the_time_of_one_offload() {
        let parameters = everything();
        let text = starpu(&parameters);
        let values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(values.len(), 11, "{text}");
        assert_eq!(values[0], "45");
        assert_eq!(values[8], "0 0 0 0 nan nan 10 62500 1000000");
        let [a, b, c] = values[9]
            .split(' ')
            .map(|word| word.parse::<f64>().expect("a number"))
            .collect::<Vec<_>>()[..]
        else {
            panic!("{}", values[9])
        };
        // At p = 4: 370 s / (20000 * 4) + 0.3 s / 20000 + 70 ns
        let time = a * 250_000f64.powf(b) + c;
        approx::assert_relative_eq!(time, (4.625e-3 + 1.5e-5 + 7e-8) * 1e6, max_relative = 1e-12);
    }

    #[test]
    fn a_program_without_offloads_has_no_regression() {
        let mut parameters = everything();
        parameters.terms.offloads.value = 0.0;
        assert!(starpu(&parameters).contains("\nnan nan nan\n"));
    }
}
