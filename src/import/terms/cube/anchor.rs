//! Archives of CUBE 4 (<https://www.scalasca.org>, and as pycubexr reads them):
//! `anchor.xml` has metrics, call paths (`cnode`) and locations (threads) of processes; `N.index` and
//! `N.data` the values of the metric N.
//!
//! An index is `CUBEX.INDEX`, 1 as 32 bits (whose order all numbers have), 16 bits and a byte of no account,
//! and a list of 32 bits: its length, and the call paths that have values. Data are `CUBEX.DATA` and, for each
//! of those, a value of 64 bits for every location; or `ZCUBEX.DATA`, the number of blocks, three numbers for
//! each, and the blocks, compressed by zlib. Call paths count depth first for an exclusive metric; for an
//! inclusive one all children of a call path come before theirs.

use std::collections::BTreeMap;

use roxmltree::{Document as Xml, Node};

use super::Calls;
use crate::error::{Error, Result};
use crate::table::{Archive, Source, inflated};

/// What an anchor says.
pub(super) struct Anchor<'a> {
    source: &'a Source,
    archive: &'a Archive,
    /// Names of the call paths, depth first, with the places of their parents.
    pub calls: Vec<(String, Option<usize>)>,
    /// Call paths beneath each, and those beneath none.
    beneath: BTreeMap<Option<usize>, Vec<usize>>,
    /// Call paths in the order of inclusive metrics.
    wide: Vec<usize>,
    /// Columns of the threads of each rank, its first thread first.
    pub ranks: Vec<Vec<usize>>,
    /// Columns of all locations.
    columns: usize,
    /// Whether there are locations that are no threads: streams of devices.
    pub has_others: bool,
}

/// Values of a metric: by call path, depth first, for each location.
pub(super) struct Values {
    is_inclusive: bool,
    pub rows: BTreeMap<usize, Vec<f64>>,
}

impl<'a> Anchor<'a> {
    /// What the root of an anchor says.
    ///
    /// # Errors
    /// [`Error::Input`] with the place of what is not as the format asks.
    pub fn new(source: &'a Source, archive: &'a Archive, root: Node<'_, '_>) -> Result<Self> {
        let mut anchor = Self {
            source,
            archive,
            calls: Vec::new(),
            beneath: BTreeMap::new(),
            wide: Vec::new(),
            ranks: Vec::new(),
            columns: 0,
            has_others: false,
        };
        let program = anchor.child(root, "program")?;
        let mut regions = BTreeMap::new();
        for region in children(program, "region") {
            regions.insert(anchor.number(region, "id")?, anchor.text(region, "name")?);
        }
        for call in children(program, "cnode") {
            anchor.add_calls(call, &regions)?;
        }
        for root in anchor.beneath.get(&None).cloned().unwrap_or_default() {
            let mut open = vec![root];
            anchor.wide.push(root);
            while let Some(call) = open.pop() {
                let children = anchor.beneath.get(&Some(call)).map_or(&[][..], Vec::as_slice);
                anchor.wide.extend(children);
                open.extend(children.iter().rev());
            }
        }
        anchor.add_ranks(anchor.child(root, "system")?)?;
        Ok(anchor)
    }

    /// The call paths with the values of a metric, for each location.
    pub fn calls_with(&self, values: &Values) -> Calls {
        let mut calls = Calls::new(self.calls.clone(), Some(self.columns as u32));
        for (&call, row) in &values.rows {
            for (column, &value) in row.iter().enumerate() {
                calls.add(column, Some(call), values.is_inclusive, value);
            }
        }
        calls
    }

    /// A call path and all beneath it, depth first.
    fn add_calls(&mut self, top: Node<'_, '_>, regions: &BTreeMap<usize, String>) -> Result<()> {
        let mut open = vec![(top, None)];
        while let Some((call, parent)) = open.pop() {
            let name = regions.get(&self.number(call, "calleeId")?).cloned();
            let unknown = || self.error(call, "a call of an unknown region", "a region");
            let name = name.ok_or_else(unknown)?;
            let place = self.calls.len();
            self.calls.push((name, parent));
            self.beneath.entry(parent).or_default().push(place);
            let beneath: Vec<Node<'_, '_>> = children(call, "cnode").collect();
            open.extend(beneath.into_iter().rev().map(|child| (child, Some(place))));
        }
        Ok(())
    }

    /// The threads of all processes; streams of devices and metrics have columns as well.
    fn add_ranks(&mut self, system: Node<'_, '_>) -> Result<()> {
        let locations = system.descendants().filter(|node| node.has_tag_name("location"));
        self.columns = locations.clone().count();
        let mut ranks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for location in locations {
            let column = self.number(location, "Id")?;
            if column >= self.columns {
                let expected = format!("one below {}", self.columns);
                return Err(self.error(location, format!("location {column}"), &expected));
            }
            if !self.text(location, "type")?.contains("thread") {
                self.has_others = true;
                continue;
            }
            let group = location.ancestors().find(|node| node.has_tag_name("locationgroup"));
            let group = group.ok_or_else(|| {
                self.error(location, "a thread of no process", "a locationgroup around it")
            })?;
            let rank = self.text(group, "rank")?.parse().ok();
            let rank = rank.ok_or_else(|| self.error(group, "no rank", "a whole number"))?;
            ranks.entry(rank).or_default().push(column);
        }
        let found: Vec<usize> = ranks.keys().copied().collect();
        if found.is_empty() || !found.iter().copied().eq(0..found.len()) {
            let expected = "ranks from 0 without a gap, each with a thread";
            return Err(self.error(system, format!("the ranks {found:?}"), expected));
        }
        self.ranks = ranks.into_values().collect();
        Ok(())
    }

    /// The values of a metric in that unit.
    ///
    /// # Errors
    /// [`Error::Input`] where it has none, or they are damaged.
    pub fn values(&self, root: Node<'_, '_>, name: &str, unit: &str) -> Result<Values> {
        let is_it = |node: &Node<'_, '_>| {
            node.has_tag_name("metric") && self.text(*node, "uniq_name").is_ok_and(|it| it == name)
        };
        let metrics = self.child(root, "metrics")?;
        let metric = metrics.descendants().find(is_it);
        let metric = metric.ok_or_else(|| {
            self.error(metrics, format!("no metric {name:?}"), "one of that name")
        })?;
        let found = self.text(metric, "uom")?;
        if found != unit {
            return Err(self.error(metric, format!("{name} in {found:?}"), &format!("{unit:?}")));
        }
        let is_inclusive = match metric.attribute("type") {
            Some("INCLUSIVE") => true,
            Some("EXCLUSIVE") => false,
            other => {
                let found = format!("a metric of type {:?}", other.unwrap_or_default());
                return Err(self.error(metric, found, "INCLUSIVE or EXCLUSIVE"));
            }
        };
        let of_bits: fn([u8; 8], bool) -> f64 = match self.text(metric, "dtype")?.as_str() {
            "DOUBLE" | "FLOAT" => |bits, is_big| f64::from_bits(number(bits, is_big)),
            "UINT64" | "UNSIGNED INTEGER" => |bits, is_big| number(bits, is_big) as f64,
            other => {
                let found = format!("values of type {other:?}");
                return Err(self.error(metric, found, "DOUBLE, FLOAT, UINT64 or UNSIGNED INTEGER"));
            }
        };
        let rows = self.rows(self.number(metric, "id")?, is_inclusive, of_bits)?;
        Ok(Values { is_inclusive, rows })
    }

    /// The rows of a metric by call path.
    fn rows(
        &self,
        metric: usize,
        is_inclusive: bool,
        of_bits: fn([u8; 8], bool) -> f64,
    ) -> Result<BTreeMap<usize, Vec<f64>>> {
        let (index, data) = (format!("{metric}.index"), format!("{metric}.data"));
        let damaged =
            |file: &str, what: &str| self.archive.error(file, what, "a whole file of CUBE 4");
        let bytes = self.archive.bytes(&index).ok_or_else(|| damaged(&index, "no such file"))?;
        let listed = listed(bytes).ok_or_else(|| damaged(&index, "no index"))?;
        let bytes = self.archive.bytes(&data).ok_or_else(|| damaged(&data, "no such file"))?;
        let values = plain(bytes, listed.is_big).ok_or_else(|| damaged(&data, "no values"))?;
        if values.len() != 8 * listed.calls.len() * self.columns {
            let found = format!("{} bytes of values", values.len());
            let (calls, columns) = (listed.calls.len(), self.columns);
            let expected = format!("8 for each of {calls} call paths and {columns} locations");
            return Err(self.archive.error(&data, found, expected));
        }
        let (values, _) = values.as_chunks::<8>();
        let mut rows = BTreeMap::new();
        for (call, row) in listed.calls.iter().zip(values.chunks(self.columns)) {
            let call = if is_inclusive { self.wide.get(*call).copied() } else { Some(*call) };
            let call = call.filter(|&call| call < self.calls.len());
            let call = call.ok_or_else(|| damaged(&index, "an unknown call path"))?;
            let row: Vec<f64> = row.iter().map(|bits| of_bits(*bits, listed.is_big)).collect();
            if row.iter().any(|value| !(value.is_finite() && *value >= 0.0)) {
                return Err(damaged(&data, "a value that is negative or not finite"));
            }
            rows.insert(call, row);
        }
        Ok(rows)
    }

    /// The call paths beneath another, or all, that are something and have nothing above them that is,
    /// below that other.
    pub fn outermost(&self, top: Option<usize>, is: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let beneath = |call| self.beneath.get(&call).into_iter().flatten().rev().copied();
        let (mut open, mut found): (Vec<usize>, _) = (beneath(top).collect(), Vec::new());
        while let Some(call) = open.pop() {
            if is(call) {
                found.push(call);
            } else {
                open.extend(beneath(Some(call)));
            }
        }
        found
    }

    fn child<'n, 'x>(&self, node: Node<'n, 'x>, name: &str) -> Result<Node<'n, 'x>> {
        let child = children(node, name).next();
        child.ok_or_else(|| self.error(node, format!("no element {name}"), "one"))
    }

    fn text(&self, node: Node<'_, '_>, name: &str) -> Result<String> {
        let child = self.child(node, name)?;
        match child.text().map(str::trim) {
            None | Some("") => Err(self.error(child, format!("an empty {name}"), "a text")),
            Some(text) => Ok(text.to_string()),
        }
    }

    fn number(&self, node: Node<'_, '_>, name: &str) -> Result<usize> {
        let number = node.attribute(name).and_then(|it| it.parse().ok());
        number.ok_or_else(|| self.error(node, format!("no number {name}"), "a whole number"))
    }

    fn error(&self, node: Node<'_, '_>, found: impl Into<String>, expected: &str) -> Error {
        self.source.error(node.range().start, found, expected)
    }
}

fn children<'n, 'x>(node: Node<'n, 'x>, name: &str) -> impl Iterator<Item = Node<'n, 'x>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

/// The elements of an anchor.
///
/// # Errors
/// [`Error::Input`] for what is no XML.
pub(super) fn elements(source: &Source) -> Result<Xml<'_>> {
    Xml::parse(&source.text).map_err(|error| no_xml(source, &error))
}

fn no_xml(source: &Source, error: &roxmltree::Error) -> Error {
    let at = error.pos();
    let lines = source.text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize);
    let line: usize = lines.map(str::len).sum();
    let column = source.text[line..].char_indices().nth(at.col.saturating_sub(1) as usize);
    let message = error.to_string();
    let found = message.split(" at ").next().unwrap_or_default();
    source.error(line + column.map_or(0, |(column, _)| column), found, "XML")
}

/// What an index says.
struct Listed {
    /// Whether numbers begin with their largest byte.
    is_big: bool,
    /// Call paths in the order of the metric.
    calls: Vec<usize>,
}

fn listed(bytes: &[u8]) -> Option<Listed> {
    let (one, rest) = bytes.strip_prefix(b"CUBEX.INDEX")?.split_first_chunk::<4>()?;
    let is_big = match *one {
        [1, 0, 0, 0] => false,
        [0, 0, 0, 1] => true,
        _ => return None,
    };
    let number =
        |bits: &[u8; 4]| if is_big { u32::from_be_bytes(*bits) } else { u32::from_le_bytes(*bits) };
    let (count, rest) = rest.get(3..)?.split_first_chunk::<4>()?;
    let (calls, end) = rest.as_chunks::<4>();
    let is_whole = end.is_empty() && calls.len() == number(count) as usize;
    is_whole.then(|| Listed { is_big, calls: calls.iter().map(|it| number(it) as usize).collect() })
}

fn number(bits: [u8; 8], is_big: bool) -> u64 {
    if is_big { u64::from_be_bytes(bits) } else { u64::from_le_bytes(bits) }
}

/// The values of a file of data, as they were before they were compressed.
fn plain(bytes: &[u8], is_big: bool) -> Option<Vec<u8>> {
    if let Some(values) = bytes.strip_prefix(b"CUBEX.DATA") {
        return Some(values.to_vec());
    }
    let (count, rest) = bytes.strip_prefix(b"ZCUBEX.DATA")?.split_first_chunk::<8>()?;
    let count = usize::try_from(number(*count, is_big)).ok()?;
    let (blocks, mut rest) = rest.split_at_checked(count.checked_mul(24)?)?;
    let mut values = Vec::new();
    for block in blocks.as_chunks::<8>().0.chunks(3) {
        let size = usize::try_from(number(block[2], is_big)).ok()?;
        let (block, after) = rest.split_at_checked(size)?;
        if size > 0 {
            values.extend(inflated(block).ok()?);
        }
        rest = after;
    }
    Some(values)
}
