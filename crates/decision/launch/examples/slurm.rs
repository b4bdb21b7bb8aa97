//! Prints scripts for Slurm: `slurm job OUTPUT OPTIONS COMMAND...` a job that becomes a command,
//! `slurm array RESULTS OPTIONS M:P:NODES... -- COMMAND...` one run of it at each configuration.

use mmgp_base::Mapping;
use mmgp_base::attempt::Order;
use mmgp_launch::{Run, slurm};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, file, options, rest @ ..] = arguments.as_slice() else {
        panic!("what to print, a file and options of sbatch")
    };
    let output = format!("{file}-%j.out");
    let settings = slurm::Settings { name: "mmgp", output: &output, options, step: slurm::step };
    if kind == "job" {
        print!("{}", slurm::job(&settings, 1, rest).expect("the file's name fits in a line"));
        return;
    }
    let mut parts = rest.split(|word| word == "--");
    let configurations = parts.next().expect("a split has a first part");
    let argv = parts.next().expect("a command after --");
    let run = |(index, word): (usize, &String)| {
        let numbers: Vec<u32> = word.split(':').map(|it| it.parse().expect("a number")).collect();
        let [m, p, nodes] = numbers[..] else { panic!("{word} is not M:P:NODES") };
        let (id, mapping) = (index as u64 + 1, Mapping::of(m, p));
        let order = Order { id, nodes, factors: [].into(), repetition: 1, limit: None };
        Run { mapping, order, argv: argv.to_vec(), env: [].into(), dir: None }
    };
    let runs: Vec<Run> = configurations.iter().enumerate().map(run).collect();
    print!("{}", slurm::array(&settings, &runs, file).expect("the file's name fits in a line"));
}
