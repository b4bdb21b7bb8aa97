//! Exported code, compiled and run by the tools of its language: every configuration takes the time
//! that the library predicts.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use mmgp::Mapping;
use mmgp::export::Target;
use mmgp::models::parameters::{
    Decomposition, Estimate, Interpolation, OverM, Parameters, Table, Terms,
};
use mmgp::models::published;

use super::{Folder, has, output};

/// m and p go this far, beyond every table that is held.
const LAST: u32 = 20;

/// Parameter sets of every shape, named as badly as can be.
fn sets() -> Vec<Parameters> {
    let pbpi = published("pbpi-qs20").expect("a published set");
    let raxml = published("raxml-qs20").expect("a published set");
    let table = |m: &[u32], values: &[f64]| {
        let values = values.iter().copied().map(Estimate::exact).collect();
        OverM::Table(Table::new(m.to_vec(), values))
    };
    let mut late = pbpi.clone();
    late.name = "*/ \"quoted\" \\ -- `$(x)` \u{202e}\u{b5}\u{1f600}\r\n#endif\n\"\"\" '''".into();
    late.decomposition = Decomposition::Task { tasks: 7 };
    late.terms.collectives = None;
    late.terms.offloads = Estimate::exact(3.0);
    late.terms.alpha = table(&[3, 9], &[1.5, 1.75]);
    late.terms.o_col_s = table(&[1, 2, 16], &[0.125, 0.1 + 0.2, 5e-7]);
    let mut plain = raxml.clone();
    plain.name = "int".into();
    plain.terms.o_col_s = OverM::Constant(Estimate::exact(1e-300));
    plain.terms.alpha = table(&[1], &[2.0]);
    let mut empty = pbpi.clone();
    empty.name = "\u{0}".into();
    empty.terms.o_col_s = table(&[4], &[0.25]);
    let mut going_on = pbpi.clone();
    going_on.name = "going on".into();
    going_on.apus = LAST;
    let Terms { alpha, o_col_s, .. } = &mut going_on.terms;
    (*alpha, *o_col_s) = (table(&[1, 4], &[1.0, 1.375]), table(&[2, 8], &[0.25, 0.625]));
    for (term, interpolation) in [(alpha, Interpolation::Line), (o_col_s, Interpolation::Logarithm)]
    {
        let OverM::Table(table) = term else { panic!("a table") };
        table.interpolation = interpolation;
    }
    vec![pbpi, raxml, late, plain, empty, going_on]
}

/// Lines of `m p time` are what the library says.
fn check(parameters: &Parameters, lines: &str) {
    let mut count = 0;
    for line in lines.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [m, p, time] = words[..] else { panic!("{line}") };
        let (m, p) = (m.parse().expect("a number"), p.parse().expect("a number"));
        let time: f64 = time.parse().expect("a number");
        let expected = parameters.time(Mapping::of(m, p)).0;
        approx::assert_relative_eq!(time, expected, max_relative = 1e-12);
        count += 1;
    }
    assert_eq!(count, LAST * LAST, "{}", parameters.name);
}

#[test]
fn a_c_header_predicts_as_the_library_does() {
    if !has("cc") {
        return;
    }
    let folder = Folder::new("c-header");
    for (index, parameters) in sets().iter().enumerate() {
        let header = Target::CHeader.write(parameters);
        let name = header
            .split("static inline double mmgp_")
            .filter_map(|rest| rest.split_once("_time_s(unsigned m"))
            .map(|(name, _)| name.to_string())
            .last()
            .expect("the header has the function");
        fs::write(folder.join("model.h"), header).expect("the folder can be written");
        let program = format!(
            "#include \"model.h\"\n#include \"model.h\"\n#include <stdio.h>\n\
             int main(void) {{ unsigned m, p;\n\
             for (m = 1; m <= {LAST}; m++) for (p = 1; p <= {LAST}; p++)\n\
             printf(\"%u %u %.17g\\n\", m, p, mmgp_{name}_time_s(m, p));\n\
             return mmgp_{name}_time_s(0, 1) == mmgp_{name}_time_s(0, 1); }}\n"
        );
        let source = folder.join("main.c");
        fs::write(&source, program).expect("the folder can be written");
        for (compiler, flags) in
            [("cc", ["-xc", "-std=c99"].as_slice()), ("c++", ["-xc++", "-std=c++11"].as_slice())]
        {
            if !has(compiler) {
                continue;
            }
            let binary = folder.join(&format!("main{index}"));
            let strict = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"];
            let mut command = Command::new(compiler);
            output(command.args(flags).args(strict).arg(&source).arg("-o").arg(&binary));
            check(parameters, &output(&mut Command::new(binary)));
        }
    }
}

/// All sets in one program, each in a module of its own.
#[test]
fn a_rust_module_predicts_as_the_library_does() {
    if !has("rustc") {
        return;
    }
    let folder = Folder::new("rust");
    let sets = sets();
    let (mut modules, mut calls) = (String::new(), String::new());
    for (index, parameters) in sets.iter().enumerate() {
        let text = Target::Rust.write(parameters);
        fs::write(folder.join(&format!("set{index}.rs")), text).expect("the folder can be written");
        let _ = writeln!(modules, "pub mod set{index};");
        let _ = writeln!(
            calls,
            "for m in 1..={LAST} {{ for p in 1..={LAST} {{ \
             println!(\"{{m}} {{p}} {{}}\", set{index}::time_s(m, p)); }} }}\n\
             assert_eq!(set{index}::NAME, {:?});",
            parameters.name
        );
    }
    let source = folder.join("main.rs");
    fs::write(&source, format!("{modules}fn main() {{\n{calls}}}\n")).expect("writable");
    let binary = folder.join("main");
    let mut command = Command::new("rustc");
    let flags = ["--edition", "2024", "-D", "warnings", "-A", "dead_code", "-o"];
    output(command.args(flags).arg(&binary).arg(&source));
    let lines = output(&mut Command::new(binary));
    let lines: Vec<&str> = lines.lines().collect();
    for (parameters, lines) in sets.iter().zip(lines.chunks((LAST * LAST) as usize)) {
        check(parameters, &lines.join("\n"));
    }
}

#[test]
fn a_python_module_predicts_as_the_library_does() {
    if !has("python3") {
        return;
    }
    let folder = Folder::new("python");
    for (index, parameters) in sets().iter().enumerate() {
        let text = Target::Python.write(parameters);
        assert!(text.is_ascii());
        fs::write(folder.join(&format!("set{index}.py")), text).expect("the folder can be written");
        let name: Vec<u32> = parameters.name.chars().map(u32::from).collect();
        let program = format!(
            "import set{index} as s\nassert [ord(c) for c in s.NAME] == {name:?}\n\
             for m in range(1, {LAST} + 1):\n for p in range(1, {LAST} + 1):\n  \
             print(m, p, repr(s.time_s(m, p)))\n\
             try: s.time_s(0, 1)\nexcept ValueError: pass\nelse: raise SystemExit(1)\n"
        );
        let mut command = Command::new("python3");
        check(parameters, &output(command.current_dir(&folder.0).args(["-c", &program])));
    }
}

#[test]
fn json_has_the_values_of_parameters_to_the_last_bit() {
    for parameters in sets() {
        let json: serde_json::Value =
            serde_json::from_str(&Target::Json.write(&parameters)).expect("JSON");
        let terms = &parameters.terms;
        for entry in terms.entries() {
            let name = terms.name_of(entry);
            let value = terms.estimate(entry).map(|it| it.value);
            // Of a table, `alpha(4)`.
            let (term, m) = name.split_once('(').unwrap_or((&name, ""));
            let term = &json["terms"][term];
            let column = |key: &str| term[key].as_array().expect("a table").clone();
            let written = match m.trim_end_matches(')').parse::<u64>() {
                Ok(m) => {
                    let place = column("m").iter().position(|it| it.as_u64() == Some(m));
                    column("value")[place.expect("its m")].as_f64()
                }
                Err(_) => term["value"].as_f64(),
            };
            assert_eq!(written, value, "{name}");
        }
    }
}
