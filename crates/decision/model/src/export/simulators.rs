//! Parameters for simulators: the machine as a platform of SimGrid, one off-load as a performance model of
//! StarPU, and communication as flags of LogGOPSim.

use std::fmt::Write;

use super::{comment, left_out, quoted};
use crate::models::parameters::Parameters;

/// A platform file of SimGrid (version 4.1): a host `hpu`, a host `apu1`, `apu2`... for each APU,
/// and a link from the one to each of the others.
///
/// Every host computes 1 flop in a second, so that an amount of computation is its time in seconds.
/// A link's latency is half of O_offload, once there and once back. The terms stand as properties
/// of the zone, those over m as `alpha(2)`, for the simulated program to read; alpha, T_CSW, O_COL
/// and g, which no platform knows, are its to apply. The model has no bandwidth: transfers are
/// overlapped, and the links are given one so high that they cost nothing.
pub fn simgrid(parameters: &Parameters) -> String {
    let parameters = &parameters.tabulated(parameters.apus);
    let mut text = format!(
        "<?xml version='1.0'?>\n\
         <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <!-- {}: terms of equation 11 of MMGP. One flop stands for one second; a link's latency is\n     \
         half of O_offload. alpha, T_CSW, O_COL and g are properties only, bandwidth is not\n     \
         modelled, standard errors and phases are not carried over. -->\n{more}\
         <platform version=\"4.1\">\n  <zone id=\"mmgp\" routing=\"Full\">\n",
        comment(&parameters.name),
        more = left_out(parameters).map(|it| format!("<!-- {it} -->\n")).unwrap_or_default(),
    );
    let mut property = |id: &str, value: &str| {
        let _ = writeln!(text, "    <prop id=\"{id}\" value=\"{value}\"/>");
    };
    property("name", &attribute(&parameters.name));
    for (term, value) in parameters.terms.values() {
        for (m, estimate) in value.numbers() {
            let id = m.map_or(term.name().to_string(), |m| format!("{}({m})", term.name()));
            property(&id, &format!("{:?}", estimate.value));
        }
    }
    let latency = parameters.terms.o_offload_s.value / 2.0;
    let apus = parameters.apus;
    let mut lines = vec![format!("<host id=\"hpu\" speed=\"1f\" core=\"{apus}\"/>")];
    lines.extend((1..=apus).map(|apu| format!("<host id=\"apu{apu}\" speed=\"1f\"/>")));
    lines.extend((1..=apus).map(|apu| {
        format!("<link id=\"link{apu}\" bandwidth=\"1EBps\" latency=\"{latency:?}s\"/>")
    }));
    lines.extend((1..=apus).map(|apu| {
        format!("<route src=\"hpu\" dst=\"apu{apu}\"><link_ctn id=\"link{apu}\"/></route>")
    }));
    for line in lines {
        let _ = writeln!(text, "    {line}");
    }
    text += "  </zone>\n</platform>\n";
    text
}

/// The inside of an attribute; what XML cannot hold is escaped as in JSON.
fn attribute(text: &str) -> String {
    let quoted = quoted(text).replace("\\\"", "\"");
    quoted.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Size of a whole off-load at p = 1, large so that sizes, which are whole numbers, can say 1/p.
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

/// Comment lines and one line of flags for LogGOPSim: `-L`, `-o`, `-g`, `-G`, `-O`, `-S`.
///
/// A message there and one back cost `2*(o + L + o)` (eq. 1), which is O_offload; the terms do not
/// say how it divides, and all of it is put on `L`, half for each way. `g` is the gap between
/// off-loads. Both are whole nanoseconds there, and rounded. The cost of a byte is 0: the model
/// overlaps transfers. The other terms are not communication and are not carried over.
pub fn loggopsim(parameters: &Parameters) -> String {
    let nanoseconds = |seconds: f64| (seconds * 1e9).round();
    format!(
        "# {}: terms of equation 11 of MMGP [ns].\n\
         # L is half of O_offload, rounded; o is 0, as the terms do not part it from L.\n\
         # Transfers are overlapped in the model: a byte costs nothing, and -S (the size from which\n\
         # messages wait for their receiver) is not reached.\n{more}\
         -L {} -o 0 -g {} -G 0 -O 0 -S 2147483647\n",
        comment(&parameters.name),
        nanoseconds(parameters.terms.o_offload_s.value / 2.0),
        nanoseconds(parameters.terms.g_s.value),
        more = left_out(parameters).map(|it| format!("# {it}\n")).unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::everything;
    use super::*;

    #[test]
    fn every_apu_is_a_host_with_a_link_and_every_number_a_property() {
        let mut parameters = everything();
        parameters.name = "a <b> & \"c\" -- \u{1} µ".into();
        let text = simgrid(&parameters);
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(&text, options).expect("XML");
        let count = |name| document.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!([count("host"), count("link"), count("route")], [17, 16, 16]);
        assert_eq!(count("prop"), 1 + 11);
        let value = |id: &str| {
            let of_id = document.descendants().find(|node| node.attribute("id") == Some(id));
            of_id.and_then(|node| node.attribute("value")).expect("a property").to_string()
        };
        assert_eq!(value("alpha(2)"), "1.28");
        assert_eq!(value("name"), "a <b> & \"c\" -- \\u0001 \\u00b5");
        assert!(text.contains("latency=\"3.5e-8s\""));
    }

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

    #[test]
    fn the_last_line_is_the_flags() {
        let text = loggopsim(&everything());
        // 70 ns there and back, 40 us of gap.
        let flags = "-L 35 -o 0 -g 40000 -G 0 -O 0 -S 2147483647";
        assert_eq!(text.lines().last(), Some(flags));
        assert!(text.lines().rev().skip(1).all(|line| line.starts_with('#')));
    }
}
