//! Lists in files.

use super::{END, List};
use crate::list::{Flaw, head_of};
use mmgp_base::error::{Error, Position, Result, Warning};
use mmgp_base::table::Source;
use mmgp_base::table::csv::Reader;

/// The columns of a list; values may be missing, and are 1 then.
const COLUMNS: [&str; 3] = ["node", "successor", "value"];
const OPTIONAL: [(&str, &str); 1] = [("value", "1")];
const NODE: usize = 0;
const SUCCESSOR: usize = 1;
const VALUE: usize = 2;

/// What a successor may be.
const SUCCESSORS: &str = "a node, or -1 or nothing for the end";

/// One node as the file has it.
struct Node {
    node: u32,
    successor: u32,
    value: u32,
}

/// A form that a file may have.
trait Form {
    /// Nodes, in the order of the file.
    fn nodes(&self) -> Result<(Vec<Node>, Vec<Warning>)>;
    /// Position at which the field of `nodes()[index]` begins.
    fn place(&self, index: usize, column: usize) -> Result<Position>;
}

impl List {
    /// Reads a list: a table with the columns node, successor and, where they are not all 1, value;
    /// or the successor of one node a line, from node 0 on. Nodes count from 0. The last node's
    /// successor is -1 or nothing. Lines that begin with `#` are comments.
    ///
    /// ```
    /// use mmgp_base::table::Source;
    /// use mmgp_lists::List;
    ///
    /// let (list, _) = List::read(&Source::new("list.txt", "2\n-1\n1\n"))?;
    /// assert_eq!((list.head(), list.successors()[2]), (0, 1));
    /// let refused = List::read(&Source::new("list.txt", "2\n0\n1\n")).unwrap_err().to_string();
    /// assert!(refused.starts_with("list.txt:2:1: found node 1 leading back to node 0, "));
    /// # Ok::<(), mmgp_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Input`] with the place of what is no number, of a node that is missing or comes
    /// twice, of a successor that is not there or another node's too, and where nodes make more than
    /// one list or go round in a cycle.
    pub fn read(source: &Source) -> Result<(Self, Vec<Warning>)> {
        if is_plain(source) { read(&Plain(source)) } else { read(&Table(source)) }
    }
}

/// Whether a file has one number a line and no header.
fn is_plain(source: &Source) -> bool {
    let mut lines = source.text.trim_start_matches('\u{feff}').lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    // One that is nothing but an empty line is a list of one node; one that is empty is no list.
    first.map_or(!source.text.is_empty(), |first| first.parse::<i64>().is_ok())
}

fn read(form: &impl Form) -> Result<(List, Vec<Warning>)> {
    let (nodes, warnings) = form.nodes()?;
    let count = nodes.len();
    let mut successors = vec![END; count];
    let mut values = vec![0; count];
    let mut is_there = vec![false; count];
    for (index, &Node { node, successor, value }) in nodes.iter().enumerate() {
        let place = node as usize;
        let fault = match is_there.get(place) {
            None => Some((format!("node {node}"), format!("0 to {} in {count} rows", count - 1))),
            Some(true) => Some((format!("a second node {node}"), "one row for each".into())),
            Some(false) => None,
        };
        if let Some((found, expected)) = fault {
            return Err(Error::Input { at: form.place(index, NODE)?, found, expected });
        }
        is_there[place] = true;
        (successors[place], values[place]) = (successor, value);
    }
    match head_of(&successors) {
        Ok(head) => Ok((List { successors, values, head }, warnings)),
        Err(flaw) => {
            let index = nodes.iter().position(|it| it.node == flaw.node());
            let index = index.expect("invariant: every node has a row");
            let at = form.place(index, SUCCESSOR)?;
            let (found, expected) = describe(flaw, &successors);
            Err(Error::Input { at, found, expected })
        }
    }
}

/// What was found, and what would have been right.
fn describe(flaw: Flaw, successors: &[u32]) -> (String, String) {
    let successor = |node: u32| successors[node as usize];
    match flaw {
        Flaw::OutOfRange { node } => (
            format!("successor {}", successor(node)),
            format!("a node from 0 to {}, or -1 or nothing for the end", successors.len() - 1),
        ),
        Flaw::Shared { node, earlier } => (
            format!("node {} after node {node}, and after node {earlier}", successor(node)),
            "every node after one other at most".into(),
        ),
        Flaw::NoEnd { node, to } => (
            format!("node {node} leading back to node {to}, and no last node"),
            "one node with -1 or nothing for its successor".into(),
        ),
        Flaw::SecondHead { node, earlier } => (
            format!("a second head: node {node}, like node {earlier}, is nobody's successor"),
            "one list, with one head and one end".into(),
        ),
        Flaw::Cycle { node, to } => (
            format!("a cycle: node {node} leads back to node {to}"),
            "every node to follow from the head".into(),
        ),
    }
}

/// A successor, if it is one.
fn successor(text: &str) -> Option<u32> {
    match text {
        "" | "-1" => Some(END),
        text => text.parse().ok().filter(|&node| node != END),
    }
}

/// A table with a header.
struct Table<'a>(&'a Source);

impl Table<'_> {
    fn reader(&self) -> Result<Reader<'_>> {
        Reader::new(self.0, const { &COLUMNS }, &OPTIONAL)
    }
}

impl Form for Table<'_> {
    fn nodes(&self) -> Result<(Vec<Node>, Vec<Warning>)> {
        let mut reader = self.reader()?;
        let mut nodes = Vec::new();
        while let Some(row) = reader.next_row()? {
            let successor = successor(row.text(SUCCESSOR));
            nodes.push(Node {
                node: row.count(NODE, 0)?,
                successor: successor.ok_or_else(|| row.field_error(SUCCESSOR, SUCCESSORS))?,
                value: row.count(VALUE, 0)?,
            });
        }
        if nodes.is_empty() {
            return Err(reader.no_rows());
        }
        Ok((nodes, reader.warnings))
    }

    fn place(&self, index: usize, column: usize) -> Result<Position> {
        let mut reader = self.reader()?;
        for _ in 0..index {
            reader.next_row()?;
        }
        let row = reader.next_row()?.expect("invariant: the row was there before");
        Ok(row.position_of(column))
    }
}

/// One successor a line.
struct Plain<'a>(&'a Source);

impl Plain<'_> {
    /// The lines that are no comments, and the byte at which each begins.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut start = 0;
        let lines = self.0.text.split_inclusive('\n').map(move |line| {
            let begun = start;
            start += line.len();
            let shown = line.trim_start_matches('\u{feff}').trim();
            (begun + line.find(shown).unwrap_or(0), shown)
        });
        lines.filter(|(_, line)| !line.starts_with('#'))
    }
}

impl Form for Plain<'_> {
    fn nodes(&self) -> Result<(Vec<Node>, Vec<Warning>)> {
        let node = |(node, (offset, text)): (u32, (usize, &str))| match successor(text) {
            Some(successor) => Ok(Node { node, successor, value: 1 }),
            None => Err(self.0.error(offset, format!("{text:?}"), SUCCESSORS)),
        };
        Ok(((0..).zip(self.lines()).map(node).collect::<Result<_>>()?, Vec::new()))
    }

    fn place(&self, index: usize, _: usize) -> Result<Position> {
        let (offset, _) = self.lines().nth(index).expect("invariant: the line was there before");
        Ok(self.0.position(offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<(List, Vec<Warning>)> {
        List::read(&Source::new("list.csv", text))
    }

    #[test]
    fn a_table_and_plain_lines_give_the_same_list() {
        let (table, warnings) =
            read_text("# mine\nvalue;node;successor\n1;2;1\n1;0;2\n\n1;1;\n1;3;0\n# end").unwrap();
        assert!(warnings.is_empty());
        assert_eq!((table.head(), table.successors()), (3, &[2, END, 1, 0][..]));
        for plain in ["2\n-1\n1\n0\n", "# mine\n 2\r\n\r\n1\r\n0", "\u{feff}2\n-1\n#\n1\n0"] {
            assert_eq!(read_text(plain).unwrap().0, table, "{plain:?}");
        }
        let one = |text: &str| read_text(text).unwrap().0.nodes() == 1;
        assert!(one("-1") && one("\n") && one("node,successor\n0,\n"));
    }

    #[test]
    fn values_and_what_is_unknown_are_read_from_a_table() {
        let (list, warnings) =
            read_text("node,successor,colour,value\n0,1,red,7\n1,-1,blue,0\n").unwrap();
        assert_eq!(list.values(), [7, 0]);
        assert_eq!(warnings.len(), 1);
        assert_eq!(
            warnings[0].to_string(),
            "list.csv:1:16: column \"colour\" is not known and was ignored"
        );
    }

    fn check(text: &str, message: &str) {
        let refused = read_text(text).expect_err("must be refused").to_string();
        assert_eq!(refused, format!("list.csv:{message}"));
    }

    #[test]
    fn what_is_no_list_is_refused_at_its_place() {
        let a_node = "expected a node, or -1 or nothing for the end";
        check("1\n-2\n", &format!("2:1: found \"-2\", {a_node}"));
        check(
            "node,successor\n0,x\n",
            &format!("2:3: found \"x\" in column \"successor\", {a_node}"),
        );
        check(
            "# five\n1\n 5\n",
            "3:2: found successor 5, expected a node from 0 to 1, or -1 or nothing for the end",
        );
        check(
            "node,successor\n2,0\n0,1\n1,0\n",
            "2:3: found node 0 after node 2, and after node 1, expected every node after one other \
             at most",
        );
        check(
            "1\n2\n0\n",
            "3:1: found node 2 leading back to node 0, and no last node, expected one node with -1 \
             or nothing for its successor",
        );
        check(
            "1\n-1\n3\n-1\n",
            "3:1: found a second head: node 2, like node 0, is nobody's successor, expected one \
             list, with one head and one end",
        );
        check(
            "4\n2\n3\n1\n-1\n",
            "4:1: found a cycle: node 3 leads back to node 1, expected every node to follow from \
             the head",
        );
    }

    #[test]
    fn a_table_that_misses_a_node_is_refused_at_its_row() {
        check("node,successor\n0,1\n2,\n", "3:1: found node 2, expected 0 to 1 in 2 rows");
        check("node,successor\n0,1\n0,\n", "3:1: found a second node 0, expected one row for each");
        check("node,successor\n", "2:1: found no rows, expected at least one row below the header");
        check(
            "",
            "1:1: found an empty file, expected a header with the columns node, successor, value",
        );
        check("0,1\n1,\n", "1:1: found the columns 0, 1, expected a column \"node\"");
    }
}
