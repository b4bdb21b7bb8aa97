//! Several blocks of rows in one text: data sets as gnuplot has them, tables one below the other, and what
//! several runs of a script appended to one file.
//!
//! Between two blocks stands an empty line, a comment, a title, or the names of the columns again. Each may
//! be of another program or input, so which block a row is of is a column: by what stands above it (`N` of
//! `N = 1000`, or `title`), or by its number.

use std::borrow::Cow;

use mmgp_base::error::Result;

use crate::names::{Role, numbered, role_of};
use crate::sheet::{Field, Heading, Sheet, extended, made_of};

/// A text that is longer is gone through only where there is a sign that it has several blocks.
const ALWAYS: usize = 1 << 20;

/// A title that is longer is a sentence, of which its beginning is enough.
const LONGEST_TITLE: usize = 60;

/// What the column of numbers is called.
const NUMBERS: &str = "block in file";

/// What the column of titles is called.
pub(crate) const TITLES: &str = "title";

/// A block of rows.
struct Block {
    /// The place at which its first row begins \[bytes\].
    at: usize,
    /// What stands above it.
    title: Option<String>,
    rows: u64,
}

/// The table with a column for its blocks; as it is where it has only one.
pub(super) fn with_blocks(sheet: Sheet<'_>) -> Result<Sheet<'_>> {
    // Of the rows of a job, some are passed over. Rows whose repetition is called so are told apart by it.
    let is_told = sheet.format.starts_with("sacct") || sheet.column("repetition").is_some();
    if is_told || !may_be_several(&sheet) {
        return Ok(sheet);
    }
    let blocks = blocks(&sheet)?;
    let Some(BlockColumn { name, texts }) = column(&sheet, &blocks) else { return Ok(sheet) };
    let starts = blocks.iter().map(|block| block.at).zip(texts).collect();
    Ok(with_column(sheet, name, starts))
}

/// The table with a column that has the same text from each of these places in the file \[bytes\] to the
/// next.
pub(super) fn with_column(
    sheet: Sheet<'_>,
    name: String,
    starts: Vec<(usize, String)>,
) -> Sheet<'_> {
    let Sheet { origin, format, mut columns, rows } = sheet;
    let mut names: Vec<String> = columns.iter().map(|heading| heading.name.clone()).collect();
    names.push(name.clone());
    let at = starts.first().map_or(0, |(at, _)| *at);
    columns.push(Heading { name, at });
    let rows = made_of(rows, move |rows, row| {
        let mut next = 0;
        rows.visit(&mut |fields| {
            let at = fields.iter().map(|field| field.at).min().unwrap_or(0);
            while starts.get(next + 1).is_some_and(|(start, _)| *start <= at) {
                next += 1;
            }
            let is_header = fields.iter().zip(&names).all(|(field, it)| field.text == *it);
            let text = match (is_header, names.last()) {
                (true, Some(name)) => name,
                _ => &starts[next].1,
            };
            let mut all = extended(fields, 1);
            all.push(Field { text: Cow::Borrowed(text), at });
            row(&all)
        })
    });
    Sheet { origin, format, columns, rows }
}

fn may_be_several(sheet: &Sheet<'_>) -> bool {
    let header = sheet.columns.iter().map(|it| it.at).min().unwrap_or(0);
    let Some(text) = sheet.origin.text() else { return false };
    let below = text[header..].trim_end();
    let name = sheet.columns.first().map_or("", |it| it.name.as_str());
    let again = format!("\n{}", &name[..name.floor_char_boundary(7)]);
    let first = below.split('\n').next().unwrap_or_default();
    let empty = if first.ends_with('\r') { "\n\r\n" } else { "\n\n" };
    below.len() < ALWAYS || [empty, "\n#", &again].iter().any(|sign| below.contains(*sign))
}

fn blocks(sheet: &Sheet<'_>) -> Result<Vec<Block>> {
    let text = sheet.origin.text().unwrap_or_default();
    let mut blocks: Vec<Block> = Vec::new();
    let (mut end, mut has_lines) = (0, true);
    let mut title = None;
    sheet.rows.visit(&mut |row| {
        let places = || row.iter().map(|field| field.at);
        let (at, last) = (places().min().unwrap_or(0), places().max().unwrap_or(0));
        // The end of such a row is not known.
        has_lines &= row.iter().all(|field| !field.text.contains('\n'));
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let gap = RowGap::of(text.get(end..line).unwrap_or_default(), &sheet.columns);
        end = text[last..].find('\n').map_or(text.len(), |length| last + length + 1);
        let is_header = row.iter().zip(&sheet.columns).all(|(field, it)| field.text == it.name);
        let begins = blocks.is_empty() || gap.is_between || is_header;
        title = gap.title.or(title.take());
        match blocks.last_mut() {
            Some(block) if block.rows == 0 || !begins => {}
            _ => blocks.push(Block { at, title: None, rows: 0 }),
        }
        if let (Some(block), false) = (blocks.last_mut(), is_header) {
            block.title = block.title.take().or(title.take());
            block.rows += 1;
        }
        Ok(())
    })?;
    if !has_lines {
        blocks.clear();
    }
    blocks.retain(|block| block.rows > 0);
    Ok(blocks)
}

/// What stands between two rows.
struct RowGap {
    /// Whether it tells them apart.
    is_between: bool,
    /// The last line of words other than the names of the columns.
    title: Option<String>,
}

impl RowGap {
    fn of(text: &str, columns: &[Heading]) -> Self {
        let mut gap = Self { is_between: false, title: None };
        for line in text.lines() {
            let is_mark = |it: char| !it.is_alphanumeric() && !"([".contains(it);
            let words = line.trim_start_matches(is_mark);
            let words = words.trim_end_matches(|it: char| is_mark(it) && !")]%".contains(it));
            let is_title = words.contains(char::is_alphabetic) && !line.contains(['|', '\t', ';']);
            gap.is_between |= is_title || line.trim().is_empty() || line.starts_with('#');
            let has_name = |it: &&Heading| {
                words.split(|it: char| it.is_whitespace() || it == ',').any(|word| word == it.name)
            };
            if is_title && columns.iter().filter(has_name).count() < columns.len().min(2) {
                gap.title = Some(words[..words.floor_char_boundary(LONGEST_TITLE)].into());
            }
        }
        gap
    }
}

/// The column of the blocks.
struct BlockColumn {
    name: String,
    /// What it has for the rows of each.
    texts: Vec<String>,
}

/// The column that tells the blocks apart; `None` of one block, and where each row is a block.
fn column(sheet: &Sheet<'_>, blocks: &[Block]) -> Option<BlockColumn> {
    let mut titles: Vec<&str> = blocks.iter().filter_map(|it| it.title.as_deref()).collect();
    titles.dedup();
    // What stands above the first block alone may be of all.
    let is_first_titled = blocks.first().is_some_and(|first| first.title.is_some());
    let are_different = titles.len() > usize::from(is_first_titled);
    if blocks.len() < 2 || (!are_different && blocks.iter().all(|block| block.rows == 1)) {
        return None;
    }
    let number = |index: usize| (index + 1).to_string();
    if !are_different {
        let texts = (0..blocks.len()).map(number).collect();
        return Some(BlockColumn { name: free(sheet, NUMBERS), texts });
    }
    let pairs: Vec<(String, String)> =
        blocks.iter().filter_map(|it| pair(it.title.as_deref()?)).collect();
    let key = pairs.first().map_or("", |(key, _)| key.as_str());
    let is_key = pairs.len() == blocks.len()
        && pairs.iter().all(|(other, _)| other == key)
        && is_free(sheet, key);
    if is_key {
        let texts = pairs.iter().map(|(_, value)| value.clone()).collect();
        return Some(BlockColumn { name: key.into(), texts });
    }
    let text = |(index, block): (usize, &Block)| {
        block.title.clone().unwrap_or_else(|| format!("block {}", index + 1))
    };
    Some(BlockColumn {
        name: free(sheet, TITLES),
        texts: blocks.iter().enumerate().map(text).collect(),
    })
}

/// The key and the value of a title: `N = 1000`, `Dataset: small`, `4 threads`.
fn pair(title: &str) -> Option<(String, String)> {
    if let Some((key, number)) = numbered(title).filter(|(key, _)| !key.is_empty()) {
        return Some((key, number.to_string()));
    }
    let (key, value) = title.split_once(['=', ':'])?;
    Some((key.trim().to_string(), value.trim().to_string()))
}

/// Whether no column has that name, or is for the same processes or threads.
fn is_free(sheet: &Sheet<'_>, key: &str) -> bool {
    let role = role_of(key).filter(|role| matches!(role, Role::Processes | Role::Threads));
    let is_same = |it: &Heading| {
        it.name.eq_ignore_ascii_case(key) || (role.is_some() && role_of(&it.name) == role)
    };
    !key.is_empty() && !sheet.columns.iter().any(is_same)
}

fn free(sheet: &Sheet<'_>, name: &str) -> String {
    match sheet.column(name) {
        None => name.into(),
        Some(_) => format!("{name} of the block"),
    }
}
