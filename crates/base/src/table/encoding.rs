//! Bytes as people have them, as text.

use std::io::Read as _;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::Source;
use crate::error::Result;

/// A way to compress, by the bytes that such a file begins with.
struct Compression {
    name: &'static str,
    magic: &'static [u8],
    expand: fn(&[u8]) -> std::io::Result<Vec<u8>>,
}

const COMPRESSIONS: [Compression; 2] = [
    Compression { name: "gzip", magic: &[0x1f, 0x8b], expand: gzip },
    Compression { name: "xz", magic: b"\xfd7zXZ\0", expand: xz },
];

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut expanded = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut expanded)?;
    Ok(expanded)
}

fn xz(mut bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut expanded = Vec::new();
    let done = lzma_rs::xz_decompress(&mut bytes, &mut expanded);
    done.map_err(|error| std::io::Error::other(format!("{error:?}")))?;
    Ok(expanded)
}

/// What zlib has compressed.
///
/// # Errors
/// Of what is damaged.
pub fn inflated(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut expanded = Vec::new();
    flate2::read::ZlibDecoder::new(bytes).read_to_end(&mut expanded)?;
    Ok(expanded)
}

/// The bytes of a file as they were before it was compressed, and by what.
pub(super) fn expanded(name: &str, bytes: Vec<u8>) -> Result<(Vec<u8>, Option<&'static str>)> {
    let Some(compression) = COMPRESSIONS.iter().find(|it| bytes.starts_with(it.magic)) else {
        return Ok((bytes, None));
    };
    let expanded = (compression.expand)(&bytes).map_err(|error| {
        let found = format!("{} that cannot be expanded ({error})", compression.name);
        Source::new(name, "").error(0, found, "a whole file")
    })?;
    Ok((expanded, Some(compression.name)))
}

/// The text that these bytes are, and what it was made from.
pub(super) fn decoded(
    name: String,
    bytes: Vec<u8>,
    compression: Option<&'static str>,
) -> Result<Source> {
    let mut steps: Vec<&str> = compression.into_iter().collect();
    let (text, encoding) = match marked(&bytes) {
        Some(encoding) => (encoding.decode(&bytes).0.into_owned(), Some(encoding.name())),
        None => match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) if error.as_bytes().iter().any(is_control) => {
                return Source::of_utf8(name, error.into_bytes());
            }
            // What is not UTF-8 and has no signs that no text has: what Windows writes in the west.
            Err(error) => {
                (WINDOWS_1252.decode(error.as_bytes()).0.into_owned(), Some("Windows-1252"))
            }
        },
    };
    steps.extend(encoding);
    let encoding = (!steps.is_empty()).then(|| steps.join(", "));
    Ok(Source { name, text, encoding })
}

/// UTF-16, by its first bytes or by zeros at every other place.
fn marked(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some(encoding).filter(|encoding| *encoding != UTF_8);
    }
    let first = &bytes[..bytes.len().min(64)];
    let zeros = |from: usize| first.iter().skip(from).step_by(2).all(|&byte| byte == 0);
    match (first.len() >= 4, zeros(1), zeros(0)) {
        (true, true, _) => Some(UTF_16LE),
        (true, _, true) => Some(UTF_16BE),
        _ => None,
    }
}

fn is_control(byte: &u8) -> bool {
    *byte < 0x20 && !b"\t\n\r\x0c".contains(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, bytes: &[u8]) -> Result<Source> {
        let (bytes, compression) = expanded(name, bytes.to_vec())?;
        decoded(name.into(), bytes, compression)
    }

    fn of(bytes: &[u8]) -> (String, Option<String>) {
        let source = read("x.csv", bytes).unwrap();
        (source.text, source.encoding)
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn text_is_read_in_the_encodings_that_people_have() {
        assert_eq!(of("m;Zeit [\u{b5}s]\n".as_bytes()), ("m;Zeit [\u{b5}s]\n".into(), None));
        let little = utf16("\u{feff}m,p\n1,2\n", u16::to_le_bytes);
        assert_eq!(of(&little), ("m,p\n1,2\n".into(), Some("UTF-16LE".into())));
        let big = utf16("m,p\n1,2\n", u16::to_be_bytes);
        assert_eq!(of(&big), ("m,p\n1,2\n".into(), Some("UTF-16BE".into())));
        let western = of(b"m;Zeit f\xfcr [\xb5s]\n");
        assert_eq!(western, ("m;Zeit f\u{fc}r [\u{b5}s]\n".into(), Some("Windows-1252".into())));
    }

    #[test]
    fn what_is_compressed_is_expanded_and_damage_is_said() {
        use std::io::Write as _;
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(b"m,p\n1,2\n").unwrap();
        let packed = writer.finish().unwrap();
        assert_eq!(of(&packed), ("m,p\n1,2\n".into(), Some("gzip".into())));
        let cut = read("x.gz", &packed[..12]).unwrap_err().to_string();
        assert!(cut.starts_with("x.gz:1:1: found gzip that cannot be expanded"), "{cut}");
        let mut packed = Vec::new();
        lzma_rs::xz_compress(&mut &b"m,p\n1,2\n"[..], &mut packed).unwrap();
        assert_eq!(of(&packed), ("m,p\n1,2\n".into(), Some("xz".into())));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_place() {
        let refused = read("x", b"m,p\n1,\x01\xff\n").unwrap_err().to_string();
        assert_eq!(refused, "x:2:4: found the byte 0xff, expected text encoded as UTF-8");
    }
}
