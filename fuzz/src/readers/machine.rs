//! Descriptions of machines, and published figures.

use mmgp::machine::{Machine, figures};
use mmgp::table::Source;

use super::{Kind, Reader, judged};
use crate::mutation::Format;
use crate::target::Outcome;

/// A machine can be read again, bears its name and has SPEs.
fn machine(source: &Source) -> Result<Outcome, String> {
    judged(Machine::read(source), source, |read| {
        let numbers = [read.clock.0, read.mpi.copy.0, read.collective_cost(16).0];
        if !numbers.iter().all(|number| number.is_finite() && *number >= 0.0) {
            return Some(format!("a number was read: {numbers:?}"));
        }
        (read.layout.spes() == 0).then(|| "a machine without SPEs was read".into())
    })
}

fn published(source: &Source) -> Result<Outcome, String> {
    judged(figures::read("spu", source), source, |figures| {
        let unsound = figures.iter().find(|it| !(it.value > 0.0 && it.value.is_finite()));
        unsound.map(|figure| format!("a figure was read: {}", figure.value))
    })
}

const ON_A_BASE: &str = "schema = 1\nname = \"mine\"\ndescription = \"x\"\nbase = \"qs20-cell\"\n[ppe]\n\
                         mmio_store = { value = 1e-6, unit = \"s\", status = \"assumed\", source = \"x\" }\n";

const WORDS: &[&str] = &[
    "{ value = 1, unit = \"s\", status = \"assumed\", source = \"x\" }",
    "{ value = 0, unit = \"cycle\", status = \"documented\", source = \"x\" }",
    "base = \"qs20\"",
    "base = \"mine\"",
    "unit = \"GB/s\"",
    "unit = \"ns\"",
    "unit = \"us\"",
    "status = \"calibrated\"",
    "[ppe]\n",
    "[spu]\n",
    "[mfc]\n",
];

pub const READERS: &[Reader] = &[
    Reader {
        name: "machine-toml",
        file: "machine.toml",
        kind: Kind { format: Format::Toml, words: WORDS },
        seeds: &[
            include_str!("../../../models/machines/qs20.toml"),
            include_str!("../../../models/machines/qs22.toml"),
            include_str!("../../../models/machines/roadrunner.toml"),
            ON_A_BASE,
        ],
        check: machine,
    },
    Reader {
        name: "figures-toml",
        file: "figures.toml",
        kind: Kind {
            format: Format::Toml,
            words: &[
                "at = [1, 2]\n",
                "value = [1.0, 2.0]\n",
                "[[figure]]\n",
                "\"ratio\"",
                "\"{at}\"",
                "\"<\"",
            ],
        },
        seeds: &[
            include_str!("../../../models/figures/spu.toml"),
            include_str!("../../../models/figures/dma.toml"),
            include_str!("../../../models/figures/mpi.toml"),
        ],
        check: published,
    },
];
