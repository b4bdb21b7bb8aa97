//! The process of a PPE.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::super::post::quadwords;
use super::super::state::Post;
use super::{
    BUFFER, EACH, FIRST_PROCESS, HAND_OVER, HEADER, Kind, LOOK_ROUND, MATCH, Packet, Station, TAKE,
    Task,
};
use crate::blade::Blade;
use crate::fault::MpiError;
use crate::host::HostProcess;
use crate::linux::Affinity;
use crate::memory::EffectiveAddress;
use crate::messages::rank::{Executed, Port, Request, Shared};
use crate::messages::station::{Books, Found, Selected};
use crate::nodes::Seat;
use crate::ppe::Work;
use mmgp_base::error::Error;
use mmgp_base::units::Bytes;
use mmgp_sim::Watch;
use mmgp_spu::local_store::LocalAddress;
use mmgp_spu::register::Quadword;

/// A PPE at its work.
pub(in crate::messages) struct Desk {
    shared: Rc<Shared>,
    station: Rc<Station>,
    process: HostProcess,
}

impl Desk {
    /// Starts the process of a PPE.
    pub fn open(shared: &Rc<Shared>, blade: &Blade, seat: Seat) {
        let layout = blade.machine.layout;
        let network = shared.stations.fabric.as_ref().map(|fabric| *fabric.network());
        let room = network.map_or(0, |network| network.room);
        let each = u64::from(layout.spes_per_cell);
        let size = Bytes(each * EACH + u64::from(room) * BUFFER);
        let area = blade.memory.allocate(seat.cell, size);
        let buffers = (0..u64::from(room)).map(|number| area.offset(each * EACH + number * BUFFER));
        let name = format!("something to do for the PPE of Cell {}", seat.cell);
        let station = Rc::new(Station {
            seat,
            first: seat.cell * layout.spes_per_cell,
            memory: Rc::clone(&blade.memory),
            area,
            stored: network.map_or(Bytes(0), |network| network.stored),
            tasks: Watch::new(&blade.sim, &name, VecDeque::new()),
            books: RefCell::new(Books::new(buffers.collect())),
        });
        let open = &shared.stations.open;
        open.borrow_mut().insert((seat.blade, seat.cell), Rc::clone(&station));
        let thread = (seat.cell + 1) * layout.threads_per_ppe - 1;
        let rank = FIRST_PROCESS + seat.cell;
        let process = HostProcess::new(blade, rank, thread as usize, Affinity::Pinned);
        let desk = Self::new(shared, station, process);
        blade.sim.spawn_daemon(format!("messages of Cell {}", seat.cell), desk.attend());
    }

    pub fn new(shared: &Rc<Shared>, station: Rc<Station>, process: HostProcess) -> Self {
        Self { shared: Rc::clone(shared), station, process }
    }

    /// Does what there is to do, for ever.
    pub async fn attend(self) {
        let tasks = &self.station.tasks;
        self.process.resume().await;
        loop {
            self.process.spin(tasks, |tasks| !tasks.is_empty()).await;
            let Some(task) = tasks.update(|tasks| tasks.pop_front()) else { continue };
            self.process.work(LOOK_ROUND).await;
            self.process.load_put_lines(1).await;
            match task {
                Task::Send(rank) => self.send(rank).await,
                Task::Receive(rank) => self.receive(rank).await,
                Task::Fetched(buffer) => self.station.books.borrow_mut().release(buffer),
                Task::Call(rank) => self.answer(rank).await,
                Task::Answered(rank, words) => self.give_answer(rank, &words).await,
                Task::Arrived(packet) => self.take(packet).await,
            }
        }
    }

    /// A rank sends, or has to send again: its data go to the host.
    async fn send(&self, rank: u32) {
        self.process.work(TAKE).await;
        let spe = self.port(rank).spe.index;
        let Post { envelope, peer, bytes, .. } =
            Post::read(&self.station.memory, self.station.sends(spe));
        let data = self.read(self.station.outgoing(spe), bytes);
        let kind = Kind::Data;
        self.ship(Packet { kind, from: rank, to: peer, envelope, bytes, data }).await;
    }

    /// A rank receives.
    async fn receive(&self, rank: u32) {
        let spe = self.port(rank).spe.index;
        let post = Post::read(&self.station.memory, self.station.receives(spe));
        let entries = self.station.books.borrow().entries();
        self.process.work(TAKE).await;
        self.process.work(MATCH * entries).await;
        let found = self.station.books.borrow_mut().receive(rank, post);
        match found {
            Found::Nothing => {}
            Found::Refused => self.answer_to(rank, &post, Kind::Again).await,
            Found::Held(held) => {
                let kept = self.deliver(rank, &post, held.bytes, held.buffer).await;
                if !kept {
                    self.station.books.borrow_mut().release(held.buffer);
                }
            }
        }
    }

    /// The host has brought something.
    async fn take(&self, packet: Packet) {
        let Packet { kind, from, to, envelope, bytes, data } = packet;
        match kind {
            Kind::Data => {
                let is = Selected { from, to, envelope };
                let entries = self.station.books.borrow().entries();
                self.process.work(TAKE).await;
                self.process.work(MATCH * entries).await;
                let waiting = self.station.books.borrow_mut().waiting(is);
                if let Some(post) = waiting {
                    let buffer = self.station.incoming(self.port(to).spe.index);
                    self.station.memory.write(buffer, data);
                    self.deliver(to, &post, bytes, buffer).await;
                } else {
                    let buffer = self.station.books.borrow_mut().hold(is, bytes);
                    if let Some(buffer) = buffer {
                        self.station.memory.write(buffer, data);
                    }
                }
            }
            Kind::Acknowledgement => {
                let slot = self.station.sends(self.port(to).spe.index);
                let Post { number, .. } = Post::read(&self.station.memory, slot);
                let answer = self.port(to).state.answer();
                self.store(to, answer, &[Quadword([number, 0])]).await;
            }
            Kind::Again => self.send(to).await,
        }
    }

    /// Gives a rank the message that lies in `buffer`, and its sender word of that; whether the rank has
    /// still to get it from there.
    async fn deliver(
        &self,
        rank: u32,
        post: &Post,
        bytes: Bytes,
        buffer: EffectiveAddress,
    ) -> bool {
        if bytes > post.bytes {
            let (to, room) = (rank, post.bytes.0);
            let rule = format!("{} bytes for rank {to}, which has room for {room}", bytes.0);
            let operation = "MPI_Send".to_string();
            self.shared.fault.raise(Error::other(MpiError { rank: post.peer, operation, rule }));
            return false;
        }
        let state = self.port(rank).state;
        let stored = bytes <= self.station.stored;
        if !stored {
            self.store(rank, state.note(), &[Quadword([buffer.0, 0])]).await;
        } else if bytes.0 > 0 {
            self.process.load_put_lines(1).await;
            let doublewords = bytes.0.div_ceil(8);
            let copy = Work { loads: doublewords, stores: doublewords, ..Work::default() };
            self.process.work(copy).await;
            self.store(rank, post.target, &self.read(buffer, bytes)).await;
        }
        self.store(rank, state.flag(), &[Quadword([post.number, bytes.0])]).await;
        self.answer_to(rank, post, Kind::Acknowledgement).await;
        !stored
    }

    /// Tells the sender of the message that a receive selects.
    async fn answer_to(&self, rank: u32, post: &Post, kind: Kind) {
        let (to, envelope, data) = (post.peer, post.envelope, Vec::new());
        self.ship(Packet { kind, from: rank, to, envelope, bytes: Bytes(0), data }).await;
    }

    /// Hands something to the host, which carries it to the PPE of its rank.
    async fn ship(&self, packet: Packet) {
        self.process.work(HAND_OVER).await;
        let (shared, from) = (Rc::clone(&self.shared), self.station.seat);
        self.process.sim.spawn_daemon("a message between blades", async move {
            let to = shared.ports[packet.to as usize].seat;
            let stations = &shared.stations;
            if let (Some(fabric), Some(station)) = (&stations.fabric, stations.at(to)) {
                fabric.carry(from, to, Bytes(HEADER.0 + packet.bytes.0)).await;
                station.tell(Task::Arrived(packet));
            }
        });
    }

    /// A rank calls a function.
    async fn answer(&self, rank: u32) {
        self.process.work(TAKE).await;
        let (port, memory) = (self.port(rank), &self.station.memory);
        let slot = self.station.calls(port.spe.index);
        let head = memory.read(slot).0[0];
        let (function, count) = (head as u32, head >> 32);
        let line = self.read(slot.offset(16), Bytes(8 * count));
        let words: Vec<u64> = line.iter().flat_map(|it| it.0).take(count as usize).collect();
        let request = Request { rank, cell: self.station.seat.cell, words: &words, memory };
        let Some((answer, executed)) = self.shared.services.answer(function, &request) else {
            return self.refuse(rank, function, "nobody serves it");
        };
        match (executed, &self.shared.stations.fabric) {
            (Executed::Ppe(work), _) => {
                self.process.work(work).await;
                self.give_answer(rank, &answer).await;
            }
            (Executed::Host(_), None) => self.refuse(rank, function, "there is no host"),
            (Executed::Host(time), Some(fabric)) => {
                self.process.work(HAND_OVER).await;
                let (fabric, station) = (Rc::clone(fabric), Rc::clone(&self.station));
                self.process.sim.spawn_daemon("a call of the host", async move {
                    let seat = station.seat;
                    fabric.up(seat, Bytes(HEADER.0 + 8 * count)).await;
                    fabric.work(seat, time).await;
                    fabric.down(seat, Bytes(HEADER.0 + 8 * answer.len() as u64)).await;
                    station.tell(Task::Answered(rank, answer));
                });
            }
        }
    }

    fn refuse(&self, rank: u32, function: u32, rule: &str) {
        let operation = format!("call of function {function}");
        self.shared.fault.raise(Error::other(MpiError { rank, operation, rule: rule.to_string() }));
    }

    /// Stores the answer of a call where its rank waits for it.
    async fn give_answer(&self, rank: u32, words: &[u64]) {
        let port = self.port(rank);
        let number = self.station.memory.read(self.station.calls(port.spe.index)).0[1];
        if !words.is_empty() {
            let count = words.len() as u64;
            let copy = Work { loads: count, stores: count, ..Work::default() };
            self.process.work(copy).await;
            self.store(rank, port.state.scratch(), &quadwords(words)).await;
        }
        let flag = Quadword([number, words.len() as u64]);
        self.store(rank, port.state.answer(), &[flag]).await;
    }

    /// Stores into the local store of a rank, and waits until all is there.
    async fn store(&self, rank: u32, at: LocalAddress, quadwords: &[Quadword]) {
        self.process.store_to_spe().await;
        let spe = &self.port(rank).spe;
        let place = EffectiveAddress::local_store(spe.index, at);
        self.station.memory.write(place, quadwords.iter().copied());
        self.process.hears(spe);
        spe.stored_by_host(at, Bytes(16 * quadwords.len() as u64));
    }

    fn read(&self, at: EffectiveAddress, bytes: Bytes) -> Vec<Quadword> {
        let quadwords = bytes.0.div_ceil(16);
        (0..quadwords).map(|number| self.station.memory.read(at.offset(16 * number))).collect()
    }

    fn port(&self, rank: u32) -> &Port {
        &self.shared.ports[rank as usize]
    }
}
