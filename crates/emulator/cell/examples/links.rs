//! What messages take on each sort of link of Roadrunner: half a round trip, and for a single message the time
//! from the moment at which both sides are ready.

use std::cell::Cell;
use std::rc::Rc;

use mmgp_base::error::Result;
use mmgp_base::units::{Bytes, Seconds, SimSpan, SimTime};
use mmgp_cell::messages::Messages;
use mmgp_cell::nodes::Nodes;
use mmgp_cell::{Blade, KernelTiming};
use mmgp_machine::Machine;
use mmgp_spu::LocalAddress;

const BUFFER: LocalAddress = LocalAddress(0x2000);
const STATE: LocalAddress = LocalAddress(0x38000);
const ROUNDS: u32 = 10;

/// Two ranks on a blade, or on two blades with these numbers.
#[derive(Clone, Copy)]
struct Link {
    name: &'static str,
    blades: &'static [u32],
    seats: [(usize, u32); 2],
}

const LINKS: [Link; 7] = [
    Link { name: "same Cell", blades: &[0], seats: [(0, 0), (0, 1)] },
    Link { name: "other Cell", blades: &[0], seats: [(0, 0), (0, 8)] },
    Link { name: "other blade", blades: &[0, 1], seats: [(0, 0), (1, 0)] },
    Link { name: "node, 1 crossbar", blades: &[0, 2], seats: [(0, 0), (1, 0)] },
    Link { name: "node, 3 crossbars", blades: &[0, 16], seats: [(0, 0), (1, 0)] },
    Link { name: "unit, 5 crossbars", blades: &[0, 376], seats: [(0, 0), (1, 0)] },
    Link { name: "unit, 7 crossbars", blades: &[0, 4336], seats: [(0, 0), (1, 0)] },
];

fn messages(link: Link) -> Result<(Nodes, Messages)> {
    let machine = Machine::named("roadrunner")?;
    let first = Rc::new(Blade::new(&machine, KernelTiming::Cached, 0.0));
    let nodes = Nodes::at(first, link.blades.to_vec())?;
    let messages = Messages::on_nodes(&nodes, link.seats, STATE)?;
    Ok((nodes, messages))
}

/// Half a round trip \[s\].
fn half_round_trip(link: Link, bytes: Bytes) -> Result<f64> {
    let (nodes, messages) = messages(link)?;
    messages.start(|rank| async move {
        for _ in 0..ROUNDS {
            if rank.rank() == 0 {
                rank.send(BUFFER, bytes, 1, 0).await;
                rank.receive(BUFFER, bytes, 1, 0).await;
            } else {
                rank.receive(BUFFER, bytes, 0, 0).await;
                rank.send(BUFFER, bytes, 0, 0).await;
            }
        }
        Ok(())
    });
    Ok(nodes.run()?.seconds().0 / f64::from(2 * ROUNDS))
}

/// When the receive and the send of a message come back, counted from the call of the later one \[s\].
fn alone(link: Link, bytes: Bytes, late: u32) -> Result<[f64; 2]> {
    let (nodes, messages) = messages(link)?;
    let ends = Rc::new(Cell::new([SimTime::ZERO; 2]));
    let later = SimSpan::from_seconds(Seconds(1e-3));
    let noted = Rc::clone(&ends);
    messages.start(move |rank| {
        let noted = Rc::clone(&noted);
        async move {
            let sim = rank.spe().sim.clone();
            if rank.rank() == late {
                sim.sleep(later).await;
            }
            if rank.rank() == 0 {
                rank.send(BUFFER, bytes, 1, 0).await;
                noted.set([noted.get()[0], sim.now()]);
            } else {
                rank.receive(BUFFER, bytes, 0, 0).await;
                noted.set([sim.now(), noted.get()[1]]);
            }
            Ok(())
        }
    });
    nodes.run()?;
    Ok(ends.get().map(|end| end.seconds().0 - later.seconds().0))
}

fn main() -> Result<()> {
    println!(
        "half a round trip; receive and send from the later call on: receiver early, late [us]"
    );
    for link in LINKS {
        println!("{}", link.name);
        for bytes in [0, 128, 1024, 2048, 16_384, 131_072] {
            let half = half_round_trip(link, Bytes(bytes))?;
            let [early, late] = [alone(link, Bytes(bytes), 0)?, alone(link, Bytes(bytes), 1)?];
            let us = |time: f64| time * 1e6;
            println!(
                "{bytes:7}  {:8.3}  {:8.1} MB/s  early {:8.3} {:8.3}  late {:8.3} {:8.3}",
                us(half),
                bytes as f64 / half / 1e6,
                us(early[0]),
                us(early[1]),
                us(late[0]),
                us(late[1]),
            );
        }
    }
    Ok(())
}
