//! The commands of an MFC, by the names and rules of the Cell Broadband Engine Architecture.

use std::fmt;

use crate::memory::{EffectiveAddress, LINE};
use crate::trace::Argument;
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::{LocalAddress, LocalStore};
use mmgp_spu::register::Quadword;

/// Tag groups of an MFC.
pub const TAGS: u8 = 32;

/// Which way a transfer goes, as the SPE sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Into local store.
    Get,
    /// Out of local store.
    Put,
}

/// What a command waits for in its queue, and what waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Nothing: it may overtake and be overtaken.
    #[default]
    Free,
    /// Comes after every earlier command of its tag group.
    Fence,
    /// Comes after every earlier and before every later command of its tag group.
    Barrier,
}

impl Order {
    /// What is put behind the name of a command: nothing, `f` or `b`.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Free => "",
            Self::Fence => "f",
            Self::Barrier => "b",
        }
    }
}

/// A transfer: `get`, `getf`, `getb`, `put`, `putf`, `putb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Which way.
    pub direction: Direction,
    /// Address in local store.
    pub local: LocalAddress,
    /// Address outside it: in main memory, or in another local store.
    pub effective: EffectiveAddress,
    /// How much.
    pub bytes: Bytes,
    /// Tag group to wait for, below [`TAGS`].
    pub tag: u8,
    /// Place among the commands of its tag group.
    pub order: Order,
}

impl Command {
    /// A transfer that may overtake and be overtaken.
    pub const fn new(
        direction: Direction,
        local: LocalAddress,
        effective: EffectiveAddress,
        bytes: Bytes,
        tag: u8,
    ) -> Self {
        Self { direction, local, effective, bytes, tag, order: Order::Free }
    }

    /// The same at another place among the commands of its tag group.
    pub const fn ordered(self, order: Order) -> Self {
        Self { order, ..self }
    }
}

/// `Get of 128 bytes, local store 0x00100, effective address 0x80, tag 3`.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { direction, local, effective, bytes, tag, order } = self;
        let suffix = order.suffix();
        write!(
            f,
            "{direction:?}{suffix} of {} bytes, local store 0x{:05x}, effective address 0x{:x}, \
             tag {tag}",
            bytes.0, local.0, effective.0
        )
    }
}

/// Transfers between one area of local store and many places outside: `getl`, `getlf`, `getlb`,
/// `putl`, `putlf`, `putlb`.
///
/// The elements follow one another in local store from `local` on. Each begins at a multiple of 16
/// or, if it is shorter than that, at the offset in its quadword that its effective address has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListCommand {
    /// Which way.
    pub direction: Direction,
    /// Address at which the data begin in local store.
    pub local: LocalAddress,
    /// Address of the list in local store, a multiple of 8; see [`write_list`].
    pub list: LocalAddress,
    /// How many elements it has, at most 2,048.
    pub elements: u32,
    /// An effective address whose upper 32 bits are those of all elements.
    pub high: EffectiveAddress,
    /// Tag group to wait for, below [`TAGS`].
    pub tag: u8,
    /// Place among the commands of its tag group.
    pub order: Order,
}

impl ListCommand {
    /// Bytes of a list element in local store.
    pub(crate) const ELEMENT_BYTES: u32 = 8;

    /// The size of the list in local store.
    pub(crate) const fn list_bytes(&self) -> Bytes {
        Bytes((self.elements * Self::ELEMENT_BYTES) as u64)
    }

    /// The element with that number as it lies in local store now.
    pub(crate) fn element(&self, store: &LocalStore, number: u32) -> ListElement {
        let at = self.list.offset(Bytes(u64::from(number * Self::ELEMENT_BYTES)));
        let Quadword(halves) = store.load(at);
        ListElement::decode(halves[usize::from(at.0 % 16 >= 8)])
    }

    /// The transfer of an element that comes when local store is filled up to `next`.
    pub(crate) fn transfer(&self, element: ListElement, next: LocalAddress) -> Command {
        let Self { direction, tag, order, .. } = *self;
        let effective = EffectiveAddress((self.high.0 >> 32 << 32) + u64::from(element.low));
        let start = next.0.next_multiple_of(16);
        let offset = if element.bytes < 16 { element.low % 16 } else { 0 };
        let bytes = Bytes(u64::from(element.bytes));
        Command { direction, local: LocalAddress(start + offset), effective, bytes, tag, order }
    }

    /// The transfers of all elements as the list lies in local store now.
    pub(crate) fn transfers(&self, store: &LocalStore) -> Vec<Command> {
        let mut next = self.local;
        let mut transfer = |number| {
            let transfer = self.transfer(self.element(store, number), next);
            next = transfer.local.offset(transfer.bytes);
            transfer
        };
        (0..self.elements).map(&mut transfer).collect()
    }
}

/// `Getl of 3 elements at 0x00080, local store 0x01000, tag 3`.
impl fmt::Display for ListCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { direction, local, list, elements, tag, order, .. } = self;
        let suffix = order.suffix();
        write!(
            f,
            "{direction:?}l{suffix} of {elements} elements at 0x{:05x}, local store 0x{:05x}, \
             tag {tag}",
            list.0, local.0
        )
    }
}

/// One transfer of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListElement {
    bytes: u32,
    low: u32,
    after: AfterElement,
}

/// What a list does after an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterElement {
    /// Goes on.
    Continue,
    /// Stalls, notifies the program, and goes on when that has been acknowledged.
    StallAndNotify,
}

impl ListElement {
    /// Transfer of so many bytes at an effective address, of which the list keeps the lower 32 bits.
    pub const fn new(effective: EffectiveAddress, bytes: Bytes, after: AfterElement) -> Self {
        Self { bytes: bytes.0 as u32, low: effective.0 as u32, after }
    }

    /// What the list does after it.
    pub(crate) const fn after(self) -> AfterElement {
        self.after
    }

    /// Encodes it, from the highest bit on: stall and notify 1, nothing 16, size 15, effective address 32.
    const fn encode(self) -> u64 {
        let stall = matches!(self.after, AfterElement::StallAndNotify) as u64;
        stall << 63 | (self.bytes as u64 & 0x7FFF) << 32 | self.low as u64
    }

    const fn decode(doubleword: u64) -> Self {
        let after = match doubleword >> 63 {
            0 => AfterElement::Continue,
            _ => AfterElement::StallAndNotify,
        };
        Self { bytes: (doubleword >> 32) as u32 & 0x7FFF, low: doubleword as u32, after }
    }
}

/// Writes a list into local store, from a multiple of 8 on.
pub fn write_list(store: &mut LocalStore, at: LocalAddress, elements: &[ListElement]) {
    for (number, element) in (0..).zip(elements) {
        let at = at.offset(Bytes(8 * number));
        let Quadword(mut halves) = store.load(at);
        halves[usize::from(at.0 % 16 >= 8)] = element.encode();
        store.store(at, Quadword(halves));
    }
}

/// Sends a word to a signal-notification register: `sndsig`, `sndsigf`, `sndsigb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendSignal {
    /// The word in local store; at the offset in its quadword that the register has in its own.
    pub local: LocalAddress,
    /// The register: [`Signal::address`](crate::channel::Signal::address).
    pub register: EffectiveAddress,
    /// Tag group to wait for, below [`TAGS`].
    pub tag: u8,
    /// Place among the commands of its tag group.
    pub order: Order,
}

impl SendSignal {
    /// The size of a signal.
    pub(crate) const BYTES: Bytes = Bytes(4);
}

/// `Sndsig of the word at 0x0010c to 0x100000001405400c, tag 3`.
impl fmt::Display for SendSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { local, register, tag, order } = self;
        let suffix = order.suffix();
        write!(
            f,
            "Sndsig{suffix} of the word at 0x{:05x} to 0x{:x}, tag {tag}",
            local.0, register.0
        )
    }
}

/// What waits in the queue of an MFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MfcOperation {
    Transfer(Command),
    /// A transfer of which the data are where they go: it takes its time.
    Moved(Command),
    List(ListCommand),
    SendSignal(SendSignal),
    /// `putqlluc`: an unconditional put of a lock line that waits its turn.
    LockLine(LockLine),
    /// `barrier`: after all earlier and before all later commands of the queue.
    Barrier,
    /// `mfcsync`, `mfceieio`: within a tag group, and seen by all others.
    Synchronise,
}

impl MfcOperation {
    /// Which of the two lanes of the MFC serves it: loads into local store or all else.
    pub(crate) const fn lane(&self) -> Direction {
        match self {
            Self::Transfer(Command { direction, .. })
            | Self::Moved(Command { direction, .. })
            | Self::List(ListCommand { direction, .. }) => *direction,
            _ => Direction::Put,
        }
    }

    /// Name in a trace.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Transfer(Command { direction: Direction::Get, .. })
            | Self::Moved(Command { direction: Direction::Get, .. }) => "get",
            Self::Transfer(Command { direction: Direction::Put, .. })
            | Self::Moved(Command { direction: Direction::Put, .. }) => "put",
            Self::List(ListCommand { direction: Direction::Get, .. }) => "getl",
            Self::List(ListCommand { direction: Direction::Put, .. }) => "putl",
            Self::SendSignal(_) => "sndsig",
            Self::LockLine(_) => "putqlluc",
            Self::Barrier => "barrier",
            Self::Synchronise => "mfcsync",
        }
    }

    /// What a trace says of it.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = Argument> {
        let local = |at: LocalAddress| Some(("local", u64::from(at.0)));
        let effective = |at: EffectiveAddress| Some(("effective", at.0));
        let tag = |tag: u8| Some(("tag", u64::from(tag)));
        let arguments = match self {
            Self::Transfer(command) | Self::Moved(command) => {
                let size = Some(("bytes", command.bytes.0));
                [size, tag(command.tag), local(command.local), effective(command.effective)]
            }
            Self::List(command) => {
                let size = Some(("elements", u64::from(command.elements)));
                [size, tag(command.tag), local(command.local), None]
            }
            Self::SendSignal(command) => {
                [None, tag(command.tag), local(command.local), effective(command.register)]
            }
            Self::LockLine(line) => [None, None, local(line.local), effective(line.effective)],
            Self::Barrier | Self::Synchronise => [None; 4],
        };
        arguments.into_iter().flatten()
    }

    pub(crate) const fn order(&self) -> Order {
        match self {
            Self::Transfer(command) | Self::Moved(command) => command.order,
            Self::List(command) => command.order,
            Self::SendSignal(command) => command.order,
            Self::LockLine(_) => Order::Free,
            Self::Barrier | Self::Synchronise => Order::Barrier,
        }
    }
}

impl fmt::Display for MfcOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transfer(command) | Self::Moved(command) => command.fmt(f),
            Self::List(command) => command.fmt(f),
            Self::SendSignal(command) => command.fmt(f),
            Self::LockLine(LockLine { local, effective }) => write!(
                f,
                "Putqlluc, local store 0x{:05x}, effective address 0x{:x}",
                local.0, effective.0
            ),
            Self::Barrier => f.write_str("Barrier"),
            Self::Synchronise => f.write_str("Mfcsync"),
        }
    }
}

/// A lock line: 128 bytes that move as one between memory and local store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockLine {
    /// Address in local store, a multiple of 128.
    pub local: LocalAddress,
    /// Address in main memory, a multiple of 128.
    pub effective: EffectiveAddress,
}

impl LockLine {
    /// The size of a lock line.
    pub const BYTES: Bytes = Bytes(LINE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_element_lies_in_local_store_as_the_architecture_says() {
        let stalling = |bytes| {
            ListElement::new(
                EffectiveAddress(0xAB_1234_5670),
                Bytes(bytes),
                AfterElement::StallAndNotify,
            )
        };
        assert_eq!(stalling(0x4000).encode(), 0x8000_4000_1234_5670);
        assert_eq!(ListElement::decode(0x8000_4000_1234_5670), stalling(0x4000));
        let plain = ListElement::new(EffectiveAddress(0x10), Bytes(16), AfterElement::Continue);
        assert_eq!(plain.encode(), 0x0000_0010_0000_0010);
    }

    #[test]
    fn the_elements_of_a_list_follow_one_another_in_local_store() {
        let mut store = LocalStore::new();
        let element = |low: u64, bytes| {
            ListElement::new(EffectiveAddress(low), Bytes(bytes), AfterElement::Continue)
        };
        // 4 bytes at offset 8 of a quadword, then whole quadwords at the next multiple of 16.
        let elements = [element(0x208, 4), element(0x400, 32), element(0x303, 1)];
        write_list(&mut store, LocalAddress(0x108), &elements);
        let command = ListCommand {
            direction: Direction::Get,
            local: LocalAddress(0x1000),
            list: LocalAddress(0x108),
            elements: 3,
            high: EffectiveAddress(0x7_0000_0000),
            tag: 5,
            order: Order::Free,
        };
        let places: Vec<(u32, u64, u64)> = command
            .transfers(&store)
            .iter()
            .map(|transfer| (transfer.local.0, transfer.effective.0, transfer.bytes.0))
            .collect();
        let by_hand =
            [(0x1008, 0x7_0000_0208, 4), (0x1010, 0x7_0000_0400, 32), (0x1033, 0x7_0000_0303, 1)];
        assert_eq!(places, by_hand);
    }
}
