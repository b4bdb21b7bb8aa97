//! What a command must keep to: what breaks a rule raises a bus error on the hardware.

use std::fmt::Display;

use super::super::memory::Memory;
use crate::channel::Signal;
use crate::command::{Command, ListCommand, LockLine, SendSignal, TAGS};
use crate::fault::BusError;
use mmgp_base::error::{Error, Result};
use mmgp_base::units::Bytes;
use mmgp_spu::local_store::LOCAL_STORE_BYTES;

/// The rules of the MFC of one SPE.
pub(super) struct Rules<'a> {
    pub spe: u32,
    pub memory: &'a Memory,
    /// SPEs of the machine.
    pub spes: u32,
    /// The largest transfer.
    pub largest: Bytes,
    /// The most elements of a list.
    pub longest_list: u32,
}

/// Whether a rule is kept, and the rule.
type Rule = (bool, &'static str);

impl Rules<'_> {
    /// A transfer, alone or as the element of a list.
    pub fn transfer(&self, command: &Command) -> Result<()> {
        let Command { local, effective, bytes, .. } = *command;
        let small = matches!(bytes.0, 1 | 2 | 4 | 8);
        let end = u64::from(local.0) + bytes.0;
        let same_offset = effective.0 % 16 == u64::from(local.0) % 16;
        self.keep(
            command,
            &[
                (
                    small || (bytes.0 > 0 && bytes.0 % 16 == 0),
                    "a transfer is 1, 2, 4, 8 or a multiple of 16 bytes",
                ),
                (bytes <= self.largest, "a transfer is at most 16384 bytes"),
                (
                    !small || (effective.0 % bytes.0 == 0 && same_offset),
                    "a small transfer is naturally aligned, at the same offset in a quadword on \
                     both sides",
                ),
                (
                    small || (effective.0 % 16 == 0 && local.0 % 16 == 0),
                    "both addresses are multiples of 16",
                ),
                (end <= u64::from(LOCAL_STORE_BYTES), "a transfer stays within the local store"),
                self.mapped(effective, bytes),
                tag_rule(command.tag),
            ],
        )
    }

    /// A list without its elements, which the MFC sees when it fetches them.
    pub fn list(&self, command: &ListCommand) -> Result<()> {
        let end = u64::from(command.list.0) + command.list_bytes().0;
        let within = end <= u64::from(LOCAL_STORE_BYTES) && command.local.0 < LOCAL_STORE_BYTES;
        self.keep(
            command,
            &[
                (
                    (1..=self.longest_list).contains(&command.elements),
                    "a list has 1 to 2048 elements",
                ),
                (command.list.0.is_multiple_of(8), "a list begins at a multiple of 8"),
                (within, "a list and its data stay within the local store"),
                tag_rule(command.tag),
            ],
        )
    }

    /// An element of a list as a transfer: the rules for that, and that it does not reach over a
    /// multiple of 4 GB, for the upper half of the effective address belongs to the list.
    pub fn element(&self, element: &Command) -> Result<()> {
        let last = element.effective.offset(element.bytes.0.saturating_sub(1));
        let within = last.0 >> 32 == element.effective.0 >> 32;
        self.keep(element, &[(within, "a list element does not cross a multiple of 4 GB")])?;
        self.transfer(element)
    }

    /// A signal to the register that it names.
    pub fn signal(&self, command: &SendSignal) -> Result<()> {
        let target = Signal::at(command.register).filter(|&(spe, _)| spe < self.spes);
        self.keep(
            command,
            &[
                (
                    target.is_some(),
                    "the effective address is that of a signal-notification register",
                ),
                (
                    u64::from(command.local.0) % 16 == command.register.0 % 16,
                    "the word is at the register's offset in a quadword",
                ),
                (command.local.0 < LOCAL_STORE_BYTES, "a word lies within the local store"),
                tag_rule(command.tag),
            ],
        )
    }

    /// A lock line; `name` is that of the command.
    pub fn lock_line(&self, name: &str, line: &LockLine, tag: u8) -> Result<()> {
        let LockLine { local, effective } = *line;
        let aligned = local.0 % 128 == 0 && effective.0 % 128 == 0;
        let command = format_args!(
            "{name}, local store 0x{:05x}, effective address 0x{:x}",
            local.0, effective.0
        );
        self.keep(
            command,
            &[
                (aligned, "both addresses of a lock line are multiples of 128"),
                (local.0 < LOCAL_STORE_BYTES, "a lock line lies within the local store"),
                self.mapped(effective, LockLine::BYTES),
                tag_rule(tag),
            ],
        )
    }

    /// The tag of a command without addresses.
    pub fn tag(&self, name: &str, tag: u8) -> Result<()> {
        self.keep(format_args!("{name}, tag {tag}"), &[tag_rule(tag)])
    }

    fn mapped(&self, at: super::super::EffectiveAddress, bytes: Bytes) -> Rule {
        (self.memory.holds(at, bytes), "the effective address is mapped")
    }

    fn keep(&self, command: impl Display, rules: &[Rule]) -> Result<()> {
        match rules.iter().find(|(kept, _)| !kept) {
            None => Ok(()),
            Some(&(_, rule)) => {
                Err(Error::other(BusError { spe: self.spe, command: command.to_string(), rule }))
            }
        }
    }
}

const fn tag_rule(tag: u8) -> Rule {
    (tag < TAGS, "a tag is below 32")
}
