//! The machine that the terms speak of as a platform of SimGrid.

use std::fmt::Write;

use super::left_out::left_out;
use super::names::{comment, quoted};
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
}
