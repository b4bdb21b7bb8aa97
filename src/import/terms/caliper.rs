//! Caliper's json-split (`src/reader/JsonSplitFormatter.cpp` of <https://github.com/LLNL/Caliper>): rows of
//! values, among them the place of a call path in a list of nodes, which have parents. What Caliper knows
//! of the whole run are texts beside them.

use std::collections::BTreeSet;

use super::calls::Calls;
use super::{Division, Document, Format, Terms, amount};
use crate::error::Result;
use crate::intake::Unit;
use crate::intake::formats::Node;

/// What `cali-query -q "format json-split"`, `spot` and `hatchet-region-profile` write.
pub(super) const FORMAT: Format = Format {
    name: "JSON of Caliper (json-split)",
    recognises: |document| document.has("column_metadata") && document.has("nodes"),
    read,
};

/// What a column of times is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// One process, whose number stands in another column.
    Rank,
    /// A mean over the processes.
    Mean,
    /// A sum over the processes.
    Sum,
}

/// The columns of times that are understood, the first that is there taken; whether a time contains those
/// of the calls beneath. With `.ns` behind they are in nanoseconds.
const TIMES: [(&str, bool, Of); 8] = [
    ("sum#time.duration", false, Of::Rank),
    ("time.duration", false, Of::Rank),
    ("time", false, Of::Rank),
    ("inclusive#sum#time.duration", true, Of::Rank),
    ("avg#sum#time.duration", false, Of::Mean),
    ("avg#inclusive#sum#time.duration", true, Of::Mean),
    ("sum#sum#time.duration", false, Of::Sum),
    ("sum#inclusive#sum#time.duration", true, Of::Sum),
];

fn read(document: &Document<'_>, said: Division) -> Result<Terms> {
    let root = document.root();
    let ranks = root.get("mpi.world.size").or_else(|| root.get("jobsize"));
    let m = document.count("m", ranks, said.m)?;
    let p = document.count("p", root.get("omp.num.threads"), said.p)?;
    let columns = root.required("columns")?;
    let names = columns.array()?.into_iter().map(|name| Ok(name.plain_text()?.into_owned()));
    let names = names.collect::<Result<Vec<String>>>()?;
    let place = |name: &str| names.iter().position(|it| it == name);
    let rank = place("mpi.rank");
    let of_ranks = rank.is_some() || m == 1;
    // Beside a rank a sum is of that rank.
    let is_usable = |of: Of| m == 1 || of == Of::Sum || (of == Of::Rank) == rank.is_some();
    let usable = TIMES.iter().filter(|(_, _, of)| is_usable(*of));
    let found = usable.clone().find_map(|time| {
        let nanoseconds = || Some((place(&format!("{}.ns", time.0))?, *time));
        place(time.0).map(|column| (column, *time)).or_else(nanoseconds)
    });
    let Some((column, (_, is_inclusive, of))) = found else {
        let known: Vec<&str> = usable.map(|(name, _, _)| *name).collect();
        let beside = if of_ranks { "" } else { "; or a column mpi.rank" };
        let found = format!("the columns {}", names.join(", "));
        return Err(columns.error(found, format!("one of {}{beside}", known.join(", "))));
    };
    let unit = unit(root.required("column_metadata")?, column, &names[column])?;
    let data = root.required("data")?;
    let rows = data.array()?;
    if of_ranks && rows.len() < m as usize {
        return Err(data.error(format!("{} rows", rows.len()), format!("one of each of {m} ranks")));
    }
    let nodes = root.required("nodes")?.array()?;
    let calls = nodes.iter().enumerate().map(|(index, node)| call(index, node));
    let calls = calls.collect::<Result<Vec<_>>>()?;
    let count_of_calls = calls.len();
    let mut calls = Calls::new(calls, of_ranks.then_some(m));
    let share = if of == Of::Sum && !of_ranks { f64::from(m) } else { 1.0 };
    let mut seen = BTreeSet::new();
    for row in rows {
        let fields = row.array()?;
        if fields.len() != names.len() {
            let expected = format!("{} as in columns", names.len());
            return Err(row.error(format!("{} values", fields.len()), expected));
        }
        let given = |column: usize| Some(fields[column]).filter(|field| !field.is_null());
        let Some(time) = given(column) else { continue };
        let rank = match rank {
            Some(rank) => below(fields[rank], m as usize, "a rank")?,
            None => 0,
        };
        seen.insert(rank);
        let path = place("path").and_then(given);
        let path = path.map(|path| below(path, count_of_calls, "a place in nodes")).transpose()?;
        calls.add(rank, path, is_inclusive, unit.seconds(amount(time)?) / share);
    }
    if of_ranks && seen.len() != m as usize {
        return Err(data.error(format!("times of {} ranks", seen.len()), format!("of {m}")));
    }
    let mut terms = Terms::new(document, m, p);
    calls.write(&mut terms);
    terms.note("host time and work in regions of threads are in no term: it tells calls alone");
    Ok(terms)
}

/// A whole number below `end`.
fn below(node: Node<'_>, end: usize, what: &str) -> Result<usize> {
    let number = node.plain_text()?.parse().ok().filter(|&number: &usize| number < end);
    number.ok_or_else(|| node.error(node.describe(), format!("{what} below {end}")))
}

/// The name of a node, and the place of its parent.
fn call(index: usize, node: &Node<'_>) -> Result<(String, Option<usize>)> {
    let node = node.object()?;
    let parent = node.get("parent").map(|parent| below(parent, index, "a node before it, a place"));
    let label = node.required("label")?;
    let name = label.plain_text()?.into_owned();
    if name.is_empty() {
        return Err(label.error("an empty label", "a name"));
    }
    Ok((name, parent.transpose()?))
}

/// The unit of a column.
fn unit(metadata: Node<'_>, column: usize, name: &str) -> Result<Unit> {
    if name.ends_with(".ns") {
        return Ok(Unit::Nanoseconds);
    }
    let all = metadata.array()?;
    let of_column = all.get(column).ok_or_else(|| {
        metadata.error(format!("{} entries", all.len()), "one for each of the columns")
    })?;
    let entries = of_column.object()?;
    let unit = ["attribute.unit", "time.unit"].iter().find_map(|key| entries.get(key));
    let Some(unit) = unit else {
        let found = format!("no unit of the column {name:?}");
        return Err(of_column.error(found, "an \"attribute.unit\", such as \"sec\""));
    };
    let text = unit.plain_text()?;
    Unit::named(&text).ok_or_else(|| unit.error(unit.describe(), "a unit of time, such as \"sec\""))
}
