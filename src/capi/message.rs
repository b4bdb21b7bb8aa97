//! The message of the last failure of each thread, in a buffer that is there from its start.

use std::cell::Cell;
use std::ffi::c_char;
use std::fmt::{Arguments, Write};

/// Bytes of a message, the zero at its end included; a longer one is cut.
const SIZE: usize = 512;

thread_local! {
    static MESSAGE: Cell<[u8; SIZE]> = const { Cell::new([0; SIZE]) };
}

/// Replaces the message.
pub(super) fn write(text: Arguments<'_>) {
    let mut buffer = Buffer { bytes: [0; SIZE], length: 0 };
    // It fails where the buffer is full, which cuts the message.
    let _ = buffer.write_fmt(text);
    MESSAGE.set(buffer.bytes);
}

/// The address of the message; valid while the thread lives.
pub(super) fn pointer() -> *const c_char {
    MESSAGE.with(|message| message.as_ptr().cast::<c_char>().cast_const())
}

struct Buffer {
    bytes: [u8; SIZE],
    length: usize,
}

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = SIZE - 1 - self.length;
        let fitting = &text[..text.floor_char_boundary(room)];
        // A zero inside would end the message.
        for (place, byte) in self.bytes[self.length..].iter_mut().zip(fitting.bytes()) {
            *place = if byte == 0 { b' ' } else { byte };
        }
        self.length += fitting.len();
        if fitting.len() == text.len() { Ok(()) } else { Err(std::fmt::Error) }
    }
}
