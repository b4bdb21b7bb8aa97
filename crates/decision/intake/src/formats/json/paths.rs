//! Columns that are given by paths: `results[*].mean`, `results[*].times[*]`, `parameters.np`.
//!
//! A path goes by keys, with `.` between, by places (`[0]`) and by all items (`[*]`) of an array or an
//! object. A key with other signs stands in `["..."]`. In an array or lines of objects, a path that does
//! not begin with `[` is of each of them. Arrays that several paths go through are gone through together;
//! what a path has before an array repeats over it.

use std::collections::BTreeSet;

use mmgp_base::error::{Result, shortened};
use mmgp_base::table::Source;
use serde_json::value::RawValue;

use super::Document;
use super::node::Node;
use super::tables::empty;
use crate::sheet::{Field, Heading, Sheet};

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Place(usize),
    All,
}

/// A path without a unit in brackets behind it: `results[*].mean [ms]`.
pub(super) fn name(path: &str) -> &str {
    let path = path.trim();
    let before = path.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    before.map_or(path, |(name, _)| name.trim_end())
}

/// The steps of a path; `None` of what is none.
fn steps(path: &str) -> Option<Vec<Step>> {
    let path = name(path);
    let mut rest =
        path.strip_prefix('$').filter(|rest| rest.starts_with(['.', '['])).unwrap_or(path);
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix("[\"") {
            let (key, after) = behind.split_once("\"]")?;
            steps.push(Step::Key(key.into()));
            rest = after;
        } else if let Some(behind) = rest.strip_prefix('[') {
            let (inside, after) = behind.split_once(']')?;
            steps.push(if inside == "*" { Step::All } else { Step::Place(inside.parse().ok()?) });
            rest = after;
        } else {
            let key = match rest.strip_prefix('.') {
                Some(key) => key,
                None if steps.is_empty() => rest,
                None => return None,
            };
            let end = key.find(['.', '[']).unwrap_or(key.len());
            if end == 0 {
                return None;
            }
            steps.push(Step::Key(key[..end].into()));
            rest = &key[end..];
        }
    }
    (!steps.is_empty()).then_some(steps)
}

/// Whether a text is a path that begins in the document: one with a `.` or a `[`, whose first key is there.
pub(super) fn leads(path: &str, document: &Document<'_>) -> bool {
    let is_path = name(path).contains(['.', '[']);
    let Some(steps) = steps(path).filter(|_| is_path) else { return false };
    let (Document::One(root) | Document::Several(root, _)) = document;
    let first = match root.is_array() {
        true => root.array().ok().and_then(|items| items.first().copied()),
        false => Some(*root),
    };
    let key =
        steps.iter().find_map(|step| if let Step::Key(key) = step { Some(key) } else { None });
    match (first.filter(Node::is_object).and_then(|first| first.object().ok()), key) {
        (Some(first), Some(key)) => first.any(key).is_some() || steps[0] == Step::All,
        (_, None) => true,
        (None, Some(_)) => false,
    }
}

/// The table whose columns are the paths.
///
/// # Errors
/// [`mmgp_base::Error::Input`] at what is no array where a path has `[*]`, at arrays of different lengths, and
/// for a path that leads to nothing anywhere.
pub(super) fn sheet<'a>(
    source: &'a Source,
    document: &Document<'a>,
    paths: &[String],
) -> Result<Sheet<'a>> {
    let (Document::One(root) | Document::Several(root, _)) = *document;
    let names: Vec<&str> = paths.iter().map(|path| name(path)).collect();
    let unknown = |name: &str| {
        let advice = example(root).map_or(String::new(), |path| format!(", such as {path}"));
        root.error(
            format!("nothing at the path {}", shortened(name)),
            format!("a path that is there{advice}"),
        )
    };
    let all: Option<Vec<_>> = names.iter().map(|name| steps(name)).collect();
    let all =
        all.ok_or_else(|| unknown(names.iter().find(|name| steps(name).is_none()).unwrap_or(&"")))?;
    let roots: Vec<(Node<'a>, bool)> = match *document {
        Document::One(root) => vec![(root, false)],
        Document::Several(first, text) => {
            let values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
            let values: serde_json::Result<Vec<&RawValue>> = values.collect();
            let values = values.map_err(|error| super::node::no_json(source, text, &error))?;
            values.into_iter().map(|value| (first.part(value.get()), true)).collect()
        }
    };
    let mut rows = PathRows {
        names: &names,
        fields: vec![None; names.len()],
        met: BTreeSet::new(),
        rows: Vec::new(),
    };
    for (root, is_item) in roots {
        let ahead = all.iter().enumerate().map(|(column, steps)| {
            let is_of_each = root.is_array() && matches!(steps[0], Step::Key(_));
            let mut steps = steps.clone();
            if is_of_each {
                steps.insert(0, Step::All);
            } else if is_item && steps[0] == Step::All {
                steps.remove(0);
            }
            Ahead { column, node: root, steps }
        });
        rows.expand(ahead.collect())?;
    }
    if let Some(column) = (0..names.len()).find(|column| !rows.met.contains(column)) {
        return Err(unknown(names[column]));
    }
    let at = root.at();
    let columns = names.iter().map(|name| Heading { name: name.to_string(), at }).collect();
    let rows = rows.rows;
    let format = "JSON by paths".into();
    Ok(Sheet { origin: source.into(), format, columns, rows: Box::new(rows) })
}

/// A path that has been followed to a value.
struct Ahead<'a> {
    column: usize,
    node: Node<'a>,
    /// What is to be followed from there.
    steps: Vec<Step>,
}

/// Rows in the making.
struct PathRows<'n, 'a> {
    names: &'n [&'n str],
    /// What has been found for the next row.
    fields: Vec<Option<Field<'a>>>,
    /// Columns that have had a value.
    met: BTreeSet<usize>,
    rows: Vec<Vec<Field<'a>>>,
}

impl<'a> PathRows<'_, 'a> {
    /// Follows the paths up to their next arrays, goes through these together, and so on.
    fn expand(&mut self, ahead: Vec<Ahead<'a>>) -> Result<()> {
        let mut before_arrays: Vec<(Ahead<'a>, Vec<Node<'a>>)> = Vec::new();
        let at = ahead.first().map_or(0, |ahead| ahead.node.at());
        for path in ahead {
            let column = path.column;
            match follow(path)? {
                None => self.fields[column] = None,
                Some(path) if path.steps.is_empty() => {
                    self.fields[column] = Some(self.field(&path)?);
                    self.met.insert(column);
                }
                Some(path) => {
                    let items = items(path.node)?;
                    before_arrays.push((path, items));
                }
            }
        }
        let Some((first, items)) = before_arrays.first() else {
            let field = |field: &Option<Field<'a>>| field.clone().unwrap_or_else(|| empty(at));
            self.rows.push(self.fields.iter().map(field).collect());
            return Ok(());
        };
        let count = items.len();
        if let Some((other, items)) = before_arrays.iter().find(|(_, items)| items.len() != count) {
            let found = format!("{} items for {}", items.len(), self.names[other.column]);
            let expected = format!("{count}, as for {}", self.names[first.column]);
            return Err(other.node.error(found, expected));
        }
        if count == 0 {
            // What has no items has a row nevertheless: a run that failed may have no times.
            for (path, _) in &before_arrays {
                self.fields[path.column] = None;
            }
            return self.expand(Vec::new());
        }
        for index in 0..count {
            let next = before_arrays.iter().map(|(path, items)| Ahead {
                column: path.column,
                node: items[index],
                steps: path.steps[1..].to_vec(),
            });
            self.expand(next.collect())?;
        }
        Ok(())
    }

    fn field(&self, path: &Ahead<'a>) -> Result<Field<'a>> {
        let node = path.node;
        if node.is_array() {
            let name = self.names[path.column];
            return Err(node
                .error("an array", format!("a text or a number; {name}[*] is each of its items")));
        }
        if node.is_object() {
            return Err(node.error("an object", "a text or a number; a key can follow in the path"));
        }
        node.field()
    }
}

/// Follows a path to its next array or to its end; `None` where there is nothing.
fn follow(mut path: Ahead<'_>) -> Result<Option<Ahead<'_>>> {
    let mut taken = 0;
    for step in &path.steps {
        let next = match step {
            Step::All => break,
            Step::Key(key) if path.node.is_object() => path.node.object()?.any(key),
            Step::Place(place) if path.node.is_array() => path.node.array()?.get(*place).copied(),
            _ => None,
        };
        let Some(next) = next else { return Ok(None) };
        path.node = next;
        taken += 1;
    }
    path.steps.drain(..taken);
    let is_missing = path.node.is_null() && !path.steps.is_empty();
    Ok((!is_missing).then_some(path))
}

/// The items of an array, or the values of an object.
fn items(node: Node<'_>) -> Result<Vec<Node<'_>>> {
    if node.is_object() {
        return Ok(node.object()?.entries().map(|(_, value)| value).collect());
    }
    if node.is_array() {
        return node.array();
    }
    Err(node.error(node.describe(), "an array, as the path has [*]"))
}

/// A path to a number that is there: within an array, if there is such.
pub(super) fn example(root: Node<'_>) -> Option<String> {
    let mut plain = None;
    find(root, String::new(), &mut plain, 0).or(plain)
}

/// The first path through an array to a number; `plain` becomes the first to a number without an array.
fn find(node: Node<'_>, path: String, plain: &mut Option<String>, depth: usize) -> Option<String> {
    const DEEPEST: usize = 8;
    if depth > DEEPEST {
        return None;
    }
    if node.is_array() {
        let first = node.array().ok()?.first().copied()?;
        return find(first, path + "[*]", plain, depth + 1);
    }
    if node.is_object() {
        let object = node.object().ok()?;
        return object.entries().find_map(|(key, value)| {
            let is_simple = !key.is_empty() && !key.contains(['.', '[', ' ', '"']);
            let next = match (is_simple, path.is_empty()) {
                (true, true) => key.to_string(),
                (true, false) => format!("{path}.{key}"),
                (false, _) => format!("{path}[\"{key}\"]"),
            };
            find(value, next, plain, depth + 1)
        });
    }
    let is_number = node.text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if is_number && path.contains("[*]") {
        return Some(path);
    }
    if is_number && plain.is_none() {
        *plain = Some(path);
    }
    None
}
