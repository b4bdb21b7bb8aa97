//! A program to tune that needs no compiler: heat in a plate, by processes of several threads each.
//!
//! The rows of the plate are shared among processes, and those of a process among its threads. In each sweep every
//! point becomes the mean of its four neighbours (Jacobi's method); then processes pass their
//! outermost rows on, through the one that started them. The result is the same to the bit however the work
//! is divided.

mod ledger;

use std::io::{self, Read, Write};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};

use crate::clock::Stopwatch;
use ledger::Ledger;
use mmgp_base::Mapping;

/// Rows and columns of the plate.
const SIZE: usize = 1024;

/// Sweeps over the plate: some tenths of a second on a core.
const SWEEPS: usize = 150;

/// Runs the plate by processes, each started by what `command` gives for its number, in which
/// [`serve`] is called; a process alone is this one. What the temperatures add up to.
///
/// # Errors
/// Where a process cannot be started or ends early.
pub fn run(mapping: Mapping, command: impl Fn(usize) -> Command) -> io::Result<u64> {
    let processes = mapping.m() as usize;
    if processes > SIZE {
        let why = format!("{processes} processes for {SIZE} rows");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    if processes == 1 {
        return Band::new(0, mapping).swept(|_| Ok(()));
    }
    let start = |number| command(number).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut children: Vec<Child> = (0..processes).map(start).collect::<io::Result<_>>()?;
    // The first and the last row of each process; none beyond the edges.
    let mut rows = vec![[vec![0.0; SIZE], vec![0.0; SIZE]]; processes + 2];
    for _ in 0..SWEEPS {
        for (child, [first, last]) in children.iter_mut().zip(&mut rows[1..]) {
            let from = child.stdout.as_mut().ok_or_else(gone)?;
            receive(from, first)?;
            receive(from, last)?;
        }
        for (child, around) in children.iter_mut().zip(rows.windows(3)) {
            let to = child.stdin.as_mut().ok_or_else(gone)?;
            send(to, &around[0][1])?;
            send(to, &around[2][0])?;
        }
    }
    let mut sum = 0_u64;
    for mut child in children {
        let mut bytes = [0; 8];
        child.stdout.as_mut().ok_or_else(gone)?.read_exact(&mut bytes)?;
        sum = sum.wrapping_add(u64::from_le_bytes(bytes));
        child.wait()?;
    }
    Ok(sum)
}

/// Is one of the processes, whose standard input and output lead to the one that started it.
///
/// # Errors
/// Where that one is gone.
pub fn serve(number: usize, mapping: Mapping) -> io::Result<()> {
    let (mut from, mut to) = (io::stdin().lock(), io::stdout().lock());
    let sum = Band::new(number, mapping).swept(|band| {
        send(&mut to, &band.rows[SIZE..2 * SIZE])?;
        let end = band.rows.len() - SIZE;
        send(&mut to, &band.rows[end - SIZE..end])?;
        to.flush()?;
        receive(&mut from, &mut band.rows[..SIZE])?;
        receive(&mut from, &mut band.rows[end..])
    })?;
    to.write_all(&sum.to_le_bytes())?;
    to.flush()
}

/// The rows of a process, with one of each neighbour around them.
struct Band {
    rows: Vec<f64>,
    ledger: Ledger,
    threads: NonZero<usize>,
}

impl Band {
    fn new(number: usize, mapping: Mapping) -> Self {
        let processes = mapping.m() as usize;
        let (start, end) = (number * SIZE / processes, (number + 1) * SIZE / processes);
        let heat = |row: usize| (0..SIZE).map(move |column| ((31 * row + 17 * column) % 97) as f64);
        let edge = || vec![0.0; SIZE];
        let rows = [edge(), (start..end).flat_map(heat).collect(), edge()].concat();
        let threads = NonZero::new(mapping.p() as usize).unwrap_or(NonZero::<usize>::MIN);
        Self { rows, ledger: Ledger::new(number, processes), threads }
    }

    /// What the rows add up to after all sweeps, before each of which neighbours' rows are exchanged.
    fn swept(mut self, mut exchange: impl FnMut(&mut Self) -> io::Result<()>) -> io::Result<u64> {
        let mut next = self.rows.clone();
        for _ in 0..SWEEPS {
            let began = Stopwatch::start();
            exchange(&mut self)?;
            self.ledger.exchanged(began);
            let began = Stopwatch::start();
            let work = self.sweep(&mut next);
            self.ledger.swept(began, &work);
            std::mem::swap(&mut self.rows, &mut next);
        }
        self.ledger.write();
        let own = &self.rows[SIZE..self.rows.len() - SIZE];
        Ok(own.iter().fold(0, |sum: u64, it| sum.wrapping_add(it.to_bits())))
    }

    /// Each thread takes rows next to each other; how long each worked \[s\].
    fn sweep(&self, next: &mut [f64]) -> Vec<f64> {
        let timed = |start: usize, share: &mut [f64]| {
            let began = Stopwatch::start();
            sweep(&self.rows, start, share);
            began.elapsed().0
        };
        let timed = &timed;
        let own = SIZE..self.rows.len() - SIZE;
        let of_thread = (own.len() / SIZE).div_ceil(self.threads.get()) * SIZE;
        std::thread::scope(|scope| {
            let shares = next[own].chunks_mut(of_thread).enumerate();
            let mut shares = shares.map(|(index, share)| (SIZE + index * of_thread, share));
            let first = shares.next();
            let others = shares.map(|(start, share)| scope.spawn(move || timed(start, share)));
            let others: Vec<_> = others.collect();
            // The thread that starts the others is one of them.
            let first = first.map(|(start, share)| timed(start, share));
            let others = others.into_iter().map(|it| it.join().unwrap_or(0.0));
            first.into_iter().chain(others).collect()
        })
    }
}

/// New temperatures of the rows from `start` on.
fn sweep(rows: &[f64], start: usize, share: &mut [f64]) {
    for (index, row) in share.chunks_exact_mut(SIZE).enumerate() {
        let at = start + index * SIZE;
        let [above, here, below] =
            [at - SIZE, at, at + SIZE].map(|start| &rows[start..start + SIZE]);
        (row[0], row[SIZE - 1]) = (here[0], here[SIZE - 1]);
        for column in 1..SIZE - 1 {
            row[column] =
                0.25 * (above[column] + below[column] + here[column - 1] + here[column + 1]);
        }
    }
}

fn send(to: &mut impl Write, row: &[f64]) -> io::Result<()> {
    let bytes: Vec<u8> = row.iter().flat_map(|it| it.to_le_bytes()).collect();
    to.write_all(&bytes)
}

fn receive(from: &mut impl Read, row: &mut [f64]) -> io::Result<()> {
    let mut bytes = [0; 8 * SIZE];
    from.read_exact(&mut bytes)?;
    for (value, bytes) in row.iter_mut().zip(bytes.chunks_exact(8)) {
        *value = f64::from_le_bytes(bytes.try_into().map_err(io::Error::other)?);
    }
    Ok(())
}

fn gone() -> io::Error {
    io::Error::other("a process has no pipes")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of neighbours are those of one process, and no thread takes those of another.
    #[test]
    fn the_result_does_not_depend_on_the_threads() {
        let alone = |p: u32| {
            let no_others = |_| Command::new("none");
            run(Mapping::of(1, p), no_others).expect("it needs no other")
        };
        assert_eq!(alone(1), alone(3));
    }

    #[test]
    fn every_row_is_of_one_process() {
        let count = |number| Band::new(number, Mapping::of(3, 1)).rows.len() / SIZE - 2;
        assert_eq!((0..3).map(count).sum::<usize>(), SIZE);
        let too_many = Mapping::of(SIZE as u32 + 1, 1);
        assert!(run(too_many, |_| Command::new("none")).is_err());
    }
}
