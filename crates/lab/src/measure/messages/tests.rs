use super::*;
use mmgp_base::units::Cycles;
use mmgp_cluster::{
    Between, Blocks, Cluster, Faces, Grid, Placement, Steps as WavefrontSteps, Wavefront,
};
use queues::Shared;

fn roadrunner() -> Machine {
    Machine::named("roadrunner").unwrap()
}

#[test]
fn each_machine_has_the_links_that_its_blades_make() {
    let links = |name: &str| links(&Machine::named(name).unwrap());
    assert_eq!(links("roadrunner"), Link::ALL);
    assert_eq!(links("qs20"), Link::ALL[..2]);
    assert_eq!(links("ps3"), Link::ALL[..1]);
}

#[test]
fn two_latencies_are_exposed_where_the_receiver_is_late_and_the_data_lie_at_the_sender() {
    // Within a blade a late receiver has first to tell where the data go; between blades they lie at
    // its PPE already.
    for row in times(&roadrunner(), &[Bytes(0), Bytes(1024)], 1).unwrap() {
        let is_near = [Link::WithinCell, Link::BetweenCells].iter().any(|it| it.name() == row.link);
        assert_eq!(row.late_s > row.early_s, is_near, "{row:?}");
        // A sender hears of it the way the message came, less what it carries.
        assert_eq!(row.release_s > 9e-6, !is_near && row.link != "between-blades", "{row:?}");
    }
}

#[test]
fn no_bytes_take_two_of_dacs_and_one_of_mpi_and_what_ppes_add() {
    let row = time(&roadrunner(), Link::BetweenNodes, Bytes(0)).unwrap();
    // Over three crossbars, with a header of 64 bytes, and 2 x 100 ns in hosts.
    let hops = 9.24e-6 + 2.0 * 160e-9 + 2.0 * 100e-9 + 2.0 * 64.0 / 1.68e9 + 64.0 / 2e9;
    let added = row.early_s - hops;
    assert!((0.0..3e-6).contains(&added), "{added}");
    assert!((0.0..3e-6).contains(&(row.release_s - hops)), "{row:?}");
}

/// A row of ranks that each receive, compute and send, as an iteration of a wavefront does: first from
/// the last to the first, then the other way.
fn pipeline(machine: &Machine, places: &[Place], bytes: Bytes, cycles: Cycles) -> Seconds {
    let last = places.len() as u32 - 1;
    let program = |rank: u32| {
        let mut steps = Vec::new();
        for sweep in 0..8 * BLOCKS {
            let ends = [rank.checked_sub(1), (rank < last).then_some(rank + 1)];
            let [to, from] = if sweep < 4 * BLOCKS { ends } else { [ends[1], ends[0]] };
            steps.extend(from.map(|from| Step::Receive(from, bytes)));
            steps.push(Step::Compute(cycles));
            steps.extend(to.map(|to| Step::Send(to, bytes)));
        }
        steps
    };
    let ranks: Vec<_> = (0..).zip(places).map(|(rank, &place)| (place, program(rank))).collect();
    let took = run(machine, &ranks).unwrap();
    took.iter().map(|steps| super::last(steps).end).fold(Seconds(0.0), |a, b| Seconds(a.0.max(b.0)))
}

const BLOCKS: u32 = 6;

fn check_pipeline(places: &[Place], shape: Shape, cycles: u64) {
    let (machine, bytes) = (roadrunner(), Bytes(1600));
    let emulated = pipeline(&machine, places, bytes, Cycles(cycles)).0;
    let grid = Grid::new(places.len() as u32, 1).unwrap();
    let steps = WavefrontSteps { angle_blocks: 1, plane_blocks: BLOCKS };
    let blocks = Blocks::same(Seconds(cycles as f64 / 3.2e9));
    let wavefront = Wavefront::new(grid, steps, blocks, Faces::same(grid, bytes, bytes)).unwrap();
    let network = network(&machine, &[Bytes(1024), Bytes(1600), Bytes(2048)], 1).unwrap();
    let placement = Placement::row_major(grid, shape).unwrap();
    let cluster = Cluster::new(wavefront, &placement, &network).unwrap();
    let predicted = cluster.recurrence(1, Between::Nothing).first().0;
    let error = predicted / emulated - 1.0;
    assert!(error.abs() < 0.02, "{emulated} s emulated, {predicted} s by recurrence");
}

#[test]
fn a_row_of_ranks_takes_what_the_recurrence_says() {
    let place = |blade, spe| Place { blade, spe };
    let on_a_cell: Vec<Place> = (0..8).map(|spe| place(0, spe)).collect();
    check_pipeline(&on_a_cell, shape(&roadrunner()), 16_000);
    let on_blades: Vec<Place> = (0..8).map(|rank| place(rank / 4, rank % 4)).collect();
    let fours = Shape {
        spes_per_cell: 4,
        cells_per_blade: 1,
        blades_per_node: 2,
        nodes_per_unit: 1,
        units: 1,
    };
    check_pipeline(&on_blades, fours, 64_000);
}

#[test]
fn what_takes_the_place_of_a_link_that_a_machine_lacks_is_the_farthest_it_has() {
    let network = network(&Machine::named("ps3").unwrap(), &[Bytes(0), Bytes(64)], 1).unwrap();
    let exchanges = Link::ALL.map(|link| network.exchange(link));
    assert!(exchanges.iter().all(|&exchange| exchange == exchanges[0]));
    assert!(exchanges[0].early.at(Bytes(64)).0 > 0.0);
}

#[test]
fn a_table_that_is_written_and_read_is_the_same() {
    use mmgp_base::table::{Source, csv};
    let rows = times(&Machine::named("qs20").unwrap(), &[Bytes(0), Bytes(4096)], 1).unwrap();
    let text = csv::write(&rows);
    let (read, _) = csv::read::<MessageTime>(&Source::new("messages.csv", &text)).unwrap();
    assert_eq!(read, rows);
}

#[test]
fn the_second_of_two_messages_waits_for_the_narrowest_stage_that_they_share() {
    let machine = roadrunner();
    let spacing = |link, shared| {
        let pairs = queues::pairs(&machine, link, shared).unwrap();
        queues::spacing(&machine, &pairs, Bytes(16_320)).unwrap().0
    };
    // With a header of 64 bytes: DaCS to and from a Cell, the adapter, and the core that copies.
    let [dacs, adapter, core] = [1e-6 + 16384.0 / 1.68e9, 16384.0 / 2e9, 0.5e-6 + 16384.0 / 1.2e9];
    for (link, shared, by_hand) in [
        (Link::BetweenNodes, Shared::Sender, dacs),
        (Link::BetweenNodes, Shared::Nodes, adapter),
        (Link::BetweenNodes, Shared::Receiver, dacs),
        (Link::BetweenBlades, Shared::Sender, core),
        (Link::BetweenBlades, Shared::Receiver, dacs),
    ] {
        let found = spacing(link, shared);
        assert!((found / by_hand - 1.0).abs() < 0.02, "{link:?} {shared:?}: {found}, {by_hand}");
    }
}

#[test]
fn eight_messages_from_cell_to_cell_are_as_far_apart_as_two() {
    let machine = roadrunner();
    let [from, to] = ends(&machine, Link::BetweenNodes).unwrap();
    let pair = |spe| [Place { spe, ..from }, Place { spe, ..to }];
    let pairs: Vec<_> = (0..8).map(pair).collect();
    let route = queues::route(&machine, Link::BetweenNodes, &[Bytes(1024), Bytes(4096)]).unwrap();
    for bytes in [1024, 4096].map(Bytes) {
        let arrivals = queues::arrivals(&machine, &pairs, bytes).unwrap();
        let found = (arrivals[7] - arrivals[0]) / 7.0;
        let stages = route.forward.iter().map(|stage| stage.occupancy.at(bytes).0);
        let narrowest = stages.fold(0.0, f64::max);
        assert!((found / narrowest - 1.0).abs() < 0.05, "{bytes:?}: {found} s, {narrowest} s");
    }
}

#[test]
fn stations_are_part_of_what_messages_of_all_sizes_cost() {
    let machine = roadrunner();
    let network = network(&machine, &SIZES, 1).unwrap();
    for link in Link::ALL {
        let (exchange, route) = (network.exchange(link), network.route(link));
        assert_eq!(route.forward.is_empty(), link < Link::BetweenBlades);
        for bytes in SIZES {
            let stages = route.forward.iter().map(|stage| stage.occupancy.at(bytes).0);
            let early = exchange.early.at(bytes).0;
            assert!(stages.sum::<f64>() <= early, "{} bytes, {}", bytes.0, link.name());
        }
    }
}
