//! Trees as text in the Newick format: parsed as its nodes stand, then held to the shape of a tree.

use std::collections::BTreeMap;

use super::tree::{Edge, Tree};
use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;

/// Reads a tree whose tips are numbered by their place in `names`.
///
/// The tree must be binary with a length on every branch. Where its outermost node has two
/// children, the two branches to them become one, whose length is their sum. Labels of inner
/// nodes, a length above the outermost node, and comments in brackets are skipped; names may be
/// quoted, and an underscore in a name stays an underscore.
///
/// # Errors
/// `Input` with the place of the mistake: text that is not Newick, a branch without a length or
/// with one that is negative or not finite, a node that is not binary, a name twice, and names
/// that `names` lacks or has in excess.
pub fn read(source: &Source, names: &[String]) -> Result<Tree> {
    let parsed = Parsed::parse(source)?;
    let index: BTreeMap<&str, usize> =
        names.iter().enumerate().map(|(tip, name)| (name.as_str(), tip)).collect();
    let mut found = vec![false; names.len()];
    let numbers = number(source, &parsed, names.len(), |name, offset| match index.get(name) {
        Some(&tip) => {
            found[tip] = true;
            Ok(tip)
        }
        None => {
            let found = format!("the tip {name:?}");
            Err(error(source, offset, found, "a name of the alignment"))
        }
    })?;
    if let Some(missing) = found.iter().position(|found| !found) {
        let end = source.text.trim_end().len();
        let expected = format!("a tip {:?} as in the alignment", names[missing]);
        return Err(error(source, end, "the end of the tree", expected));
    }
    hang(source, &parsed, &numbers)
}

/// Reads a tree as [`read`] does, its tips numbered in the order in which they stand in the text;
/// also gives their names in that order.
///
/// # Errors
/// The errors of [`read`].
pub fn read_named(source: &Source) -> Result<(Tree, Vec<String>)> {
    let parsed = Parsed::parse(source)?;
    let names: Vec<String> = parsed.tips().map(|node| node.name.clone()).collect();
    let mut next = 0..names.len();
    let numbers = number(source, &parsed, names.len(), |_, _| {
        Ok(next.next().expect("invariant: tips are asked for in the order of the text"))
    })?;
    Ok((hang(source, &parsed, &numbers)?, names))
}

/// Checks every node and gives it its number in a [`Tree`]: `tip_of` numbers a tip by its name
/// and place, inner nodes follow the tips. The outermost node has none where it has two children.
fn number(
    source: &Source,
    parsed: &Parsed,
    taxa: usize,
    mut tip_of: impl FnMut(&str, usize) -> Result<usize>,
) -> Result<Vec<Option<usize>>> {
    let mut inner = taxa..;
    let mut first_offset = BTreeMap::new();
    let mut numbers = Vec::with_capacity(parsed.nodes.len());
    for (index, node) in parsed.nodes.iter().enumerate() {
        let is_tip = node.children.is_empty();
        if is_tip && node.name.is_empty() {
            return Err(error(source, node.offset, "a tip without a name", "a name"));
        }
        if is_tip && let Some(first) = first_offset.insert(node.name.as_str(), node.offset) {
            let found = format!("the tip {:?} a second time", node.name);
            let expected = format!("a name unlike that at {}", source.position(first));
            return Err(error(source, node.offset, found, expected));
        }
        let (right, expected) = if index == 0 { (2..=3, "2 or 3") } else { (2..=2, "2") };
        if !is_tip && !right.contains(&node.children.len()) {
            let found = format!("a node with {} branches below it", node.children.len());
            return Err(error(source, node.offset, found, expected));
        }
        if index > 0 && node.length.is_none() {
            return Err(error(source, node.end, "no branch length", "`:` and a length"));
        }
        numbers.push(match node.children.len() {
            0 => Some(tip_of(&node.name, node.offset)?),
            2 if index == 0 => None,
            _ => inner.next(),
        });
    }
    Ok(numbers)
}

/// Hangs the parsed nodes by their numbers as a [`Tree`].
fn hang(source: &Source, parsed: &Parsed, numbers: &[Option<usize>]) -> Result<Tree> {
    let taxa = parsed.tips().count();
    if taxa < 3 {
        return Err(error(source, 0, format!("a tree of {taxa} tips"), "at least 3"));
    }
    let number = |index: usize| numbers[index].expect("invariant: only the outermost has none");
    let mut branches: Vec<Edge> = Vec::with_capacity(parsed.nodes.len());
    for (index, node) in parsed.nodes.iter().enumerate() {
        let length_above = |child: usize| parsed.nodes[child].length.unwrap_or(0.0);
        match (numbers[index], &node.children[..]) {
            (None, &[one, other]) => {
                let joined = length_above(one) + length_above(other);
                branches.push((number(one), number(other), joined));
            }
            _ => branches
                .extend(node.children.iter().map(|&c| (number(index), number(c), length_above(c)))),
        }
    }
    // The first inner node of the text that has a number is the one after the tips.
    Tree::from_branches(taxa, &branches, taxa)
}

/// The text of a tree, with a line break at its end, its tips called by `names`. The outermost
/// node is the root with its three branches; a length has the fewest digits that give the same
/// number again.
pub fn write(tree: &Tree, names: &[String]) -> String {
    write_labelled(tree, names, |_| None)
}

/// The same with a label behind the parenthesis of each inner node that `label` has one for, which
/// belongs to the branch above that node: the support of its split, as other programs read it.
pub fn write_labelled(
    tree: &Tree,
    names: &[String],
    label: impl Fn(usize) -> Option<String>,
) -> String {
    let children = |node| tree.children(node).collect();
    nested(tree.root(), children, |node| {
        let name = match names.get(node).filter(|_| node < tree.taxa()) {
            Some(name) => quoted(name),
            None => label(node).map_or_else(String::new, |label| quoted(&label)),
        };
        match node == tree.root() {
            true => name,
            false => format!("{name}:{}", tree.branch_length(node)),
        }
    })
}

/// The text of the tree below `root`: `children` of each node in parentheses, and behind them what
/// is the node's `own`.
pub(super) fn nested(
    root: usize,
    children: impl Fn(usize) -> Vec<usize>,
    own: impl Fn(usize) -> String,
) -> String {
    /// What is still to be written, the next on top.
    enum Open {
        Node(usize),
        Comma,
        Close(usize),
    }
    let mut text = String::new();
    let mut open = vec![Open::Node(root)];
    while let Some(next) = open.pop() {
        match next {
            Open::Comma => text.push(','),
            Open::Close(node) => {
                text.push(')');
                text.push_str(&own(node));
            }
            Open::Node(node) => {
                let below = children(node);
                if below.is_empty() {
                    text.push_str(&own(node));
                    continue;
                }
                text.push('(');
                open.push(Open::Close(node));
                for (place, child) in below.into_iter().rev().enumerate() {
                    if place > 0 {
                        open.push(Open::Comma);
                    }
                    open.push(Open::Node(child));
                }
            }
        }
    }
    text.push_str(";\n");
    text
}

/// The name in quotes where it would not be read back without.
pub(super) fn quoted(name: &str) -> String {
    let special = |c: char| c.is_whitespace() || ENDS_NAME.contains(c) || c == '\'';
    match name.contains(special) {
        true => format!("'{}'", name.replace('\'', "''")),
        false => name.to_string(),
    }
}

fn error(
    source: &Source,
    offset: usize,
    found: impl Into<String>,
    expected: impl Into<String>,
) -> Error {
    let at = source.position(offset);
    Error::Input { at, found: found.into(), expected: expected.into() }
}

/// What ends a name or a number that is not quoted, beside blanks.
pub(super) const ENDS_NAME: &str = "()[],:;";

/// A node of the text, of which nothing has been read at first.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The name or label, without quotes; may be empty.
    pub name: String,
    /// Length of the branch above it, finite and not negative.
    pub length: Option<f64>,
    /// The children, by index.
    pub children: Vec<usize>,
    /// The byte at which it begins.
    pub offset: usize,
    /// The byte after its name, where a length would begin.
    pub end: usize,
}

/// All nodes of a text, in the order in which they begin; the outermost is the first.
#[derive(Debug)]
pub(super) struct Parsed {
    pub nodes: Vec<Node>,
}

impl Parsed {
    /// The nodes without children, in the order of the text.
    pub fn tips(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.children.is_empty())
    }

    /// Parses `source`, which must hold one tree and nothing else.
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser { source, offset: 0 };
        let mut nodes: Vec<Node> = Vec::new();
        // The nodes whose parenthesis is not closed yet, the innermost on top: the text may nest
        // deeper than a call stack.
        let mut open: Vec<usize> = Vec::new();
        parser.skip_blanks()?;
        if parser.peek() != Some('(') {
            return Err(parser.unexpected("a tree: `(`"));
        }
        loop {
            parser.skip_blanks()?;
            let index = nodes.len();
            let start = parser.offset;
            if let Some(&parent) = open.last() {
                nodes[parent].children.push(index);
            }
            nodes.push(Node { offset: start, end: start, ..Node::default() });
            if parser.take('(') {
                open.push(index);
                continue;
            }
            parser.finish(&mut nodes[index])?;
            while !parser.take(',') {
                if !parser.take(')') {
                    return Err(parser.unexpected("`,` or `)`"));
                }
                let closed = open.pop().expect("invariant: the loop ends with the outermost");
                parser.finish(&mut nodes[closed])?;
                if open.is_empty() {
                    return parser.end().map(|()| Self { nodes });
                }
            }
        }
    }
}

struct Parser<'a> {
    source: &'a Source,
    offset: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.source.text[self.offset..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.offset += wanted.len_utf8();
        }
        found
    }

    /// Skips blanks and comments, which may nest.
    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            self.offset += self.rest().len() - self.rest().trim_start().len();
            if self.peek() != Some('[') {
                return Ok(());
            }
            let mut depth = 0_usize;
            let end = self.rest().find(|c| {
                match c {
                    '[' => depth += 1,
                    ']' => depth -= 1,
                    _ => {}
                }
                depth == 0
            });
            match end {
                Some(end) => self.offset += end + 1,
                None => {
                    let found = "a comment that does not end";
                    return Err(error(self.source, self.offset, found, "`]`"));
                }
            }
        }
    }

    /// What follows a tip's start or a closed parenthesis: a name and a length, either of which
    /// may be missing.
    fn finish(&mut self, node: &mut Node) -> Result<()> {
        self.skip_blanks()?;
        node.name = self.name()?;
        node.end = self.offset;
        self.skip_blanks()?;
        if self.take(':') {
            self.skip_blanks()?;
            node.length = Some(self.length()?);
            self.skip_blanks()?;
        }
        Ok(())
    }

    fn name(&mut self) -> Result<String> {
        let start = self.offset;
        if !self.take('\'') {
            return Ok(self.word().to_string());
        }
        let mut name = String::new();
        loop {
            let Some(quote) = self.rest().find('\'') else {
                return Err(error(self.source, start, "a quote that does not end", "`'`"));
            };
            name.push_str(&self.rest()[..quote]);
            self.offset += quote + 1;
            // Two quotes in a row stand for one within the name.
            if !self.take('\'') {
                return Ok(name);
            }
            name.push('\'');
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || ENDS_NAME.contains(c);
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.offset += word.len();
        word
    }

    fn length(&mut self) -> Result<f64> {
        let start = self.offset;
        let word = self.word();
        let expected = match word.parse::<f64>() {
            Ok(length) if length.is_finite() && length >= 0.0 => return Ok(length),
            Ok(_) => "a finite length of 0 or more",
            Err(_) => "a branch length",
        };
        Err(error(self.source, start, format!("{word:?}"), expected))
    }

    /// The semicolon, and nothing but blanks after it.
    fn end(&mut self) -> Result<()> {
        if !self.take(';') {
            return Err(self.unexpected("`;`"));
        }
        self.skip_blanks()?;
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("nothing after the tree")),
        }
    }

    fn unexpected(&self, expected: &str) -> Error {
        let found = match self.peek() {
            Some(character) => format!("{character:?}"),
            None => "the end of the text".into(),
        };
        error(self.source, self.offset, found, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulate::Stream;
    use super::super::tests::shared_data;
    use super::*;

    fn names(list: &str) -> Vec<String> {
        list.split(' ').map(String::from).collect()
    }

    fn parse(text: &str) -> Result<Tree> {
        read(&Source::new("x.nwk", text), &names("a b c d"))
    }

    fn check(text: &str, written: &str) {
        assert_eq!(write(&parse(text).unwrap(), &names("a b c d")), format!("{written}\n"));
    }

    #[test]
    fn comments_quotes_labels_and_blanks_are_understood() {
        check("(a:1,b:2,(c:3,d:4):5);", "(a:1,b:2,(c:3,d:4):5);");
        check(
            "[one [inner] comment] ( 'a' : 1e0 ,\n b:2[&x=1],(c:.3,d:4)0.99:5) outer:7 ; \n",
            "(a:1,b:2,(c:0.3,d:4):5);",
        );
    }

    #[test]
    fn the_two_branches_at_a_bifurcating_root_become_one() {
        check("((a:1,b:2):0.25,(c:3,d:4):0.5);", "((c:3,d:4):0.75,a:1,b:2);");
        check("(d:1,(a:1,(b:2,c:3):4):5);", "(d:6,a:1,(b:2,c:3):4);");
    }

    #[test]
    fn names_that_need_quotes_get_them() {
        let odd = names("a b c d'").into_iter().map(|n| format!("{n} (x)")).collect::<Vec<_>>();
        let tree = parse("(a:1,b:2,(c:3,d:4):5);").unwrap();
        let text = write(&tree, &odd);
        assert_eq!(text, "('a (x)':1,'b (x)':2,('c (x)':3,'d'' (x)':4):5);\n");
        assert_eq!(read(&Source::new("x.nwk", &text), &odd).unwrap(), tree);
    }

    #[test]
    fn labels_stand_behind_parentheses_and_are_skipped_on_reading() {
        let tree = parse("(a:1,b:2,(c:3,d:4):5);").unwrap();
        let label = |node: usize| (node == 5).then(|| "0.75".to_string());
        let text = write_labelled(&tree, &names("a b c d"), label);
        assert_eq!(text, "(a:1,b:2,(c:3,d:4)0.75:5);\n");
        assert_eq!(parse(&text).unwrap(), tree);
    }

    #[test]
    fn what_is_written_is_read_back_to_the_last_bit() {
        let mut stream = Stream::new(11, 0);
        for taxa in 3..40 {
            let tree = Tree::random(taxa, 0.1, &mut stream).unwrap();
            let names: Vec<String> = (0..taxa).map(|tip| format!("t{tip}")).collect();
            let text = write(&tree, &names);
            let again = read(&Source::new("x.nwk", &text), &names).unwrap();
            assert_eq!(write(&again, &names), text);
            assert_eq!(again.splits(), tree.splits());
        }
    }

    #[test]
    fn a_caterpillar_of_many_tips_needs_no_deep_recursion() {
        let tips = 50_000;
        let mut text = "(".repeat(tips - 2);
        text.push_str("t0:1,t1:1");
        for tip in 2..tips - 1 {
            text.push_str(&format!("):1,t{tip}:1"));
        }
        text.push_str(&format!(",t{}:1);", tips - 1));
        let (tree, names) = read_named(&Source::new("x.nwk", &text)).unwrap();
        assert_eq!(tree.taxa(), tips);
        assert_eq!(write(&tree, &names).len(), text.len() + 1);
    }

    #[test]
    fn tips_are_numbered_as_they_stand_where_there_is_no_alignment() {
        let (tree, names) = read_named(&Source::new("x.nwk", "(x:1,(y:2,z:3):4,w:5);")).unwrap();
        assert_eq!(names, ["x", "y", "z", "w"]);
        assert_eq!(tree.branch_length(2), 3.0);
    }

    fn check_refused(text: &str, message: &str) {
        assert_eq!(parse(text).expect_err("must be refused").to_string(), message);
    }

    #[test]
    fn malformed_text_is_refused_at_its_place() {
        check_refused("", "x.nwk:1:1: found the end of the text, expected a tree: `(`");
        check_refused("a:1;", "x.nwk:1:1: found 'a', expected a tree: `(`");
        check_refused("(a:1,b:2\n", "x.nwk:2:1: found the end of the text, expected `,` or `)`");
        check_refused("(a:1,b:2))", "x.nwk:1:10: found ')', expected `;`");
        check_refused("(a:1,b:2);x", "x.nwk:1:11: found 'x', expected nothing after the tree");
        check_refused("(a:1,\nb:x);", "x.nwk:2:3: found \"x\", expected a branch length");
        check_refused("(a:1,'b:2);", "x.nwk:1:6: found a quote that does not end, expected `'`");
        check_refused("(a:1[,b:2);", "x.nwk:1:5: found a comment that does not end, expected `]`");
        check_refused("(a:1,,b:2);", "x.nwk:1:6: found a tip without a name, expected a name");
    }

    #[test]
    fn branch_lengths_must_be_there_and_finite_and_not_negative() {
        let expected = "expected a finite length of 0 or more";
        check_refused("(a:1,b:-2,(c:3,d:4):5);", &format!("x.nwk:1:8: found \"-2\", {expected}"));
        check_refused("(a:1,b:inf,(c:3,d:4):5);", &format!("x.nwk:1:8: found \"inf\", {expected}"));
        check_refused(
            "(a:1,b:1e999,(c:3,d:4):5);",
            &format!("x.nwk:1:8: found \"1e999\", {expected}"),
        );
        check_refused(
            "(a:1,b:2,(c,d:4):5);",
            "x.nwk:1:12: found no branch length, expected `:` and a length",
        );
        check_refused(
            "(a:1,b:2,(c:3,d:4));",
            "x.nwk:1:19: found no branch length, expected `:` and a length",
        );
    }

    #[test]
    fn nodes_must_be_binary() {
        check_refused(
            "(a:1,b:2,c:3,d:4);",
            "x.nwk:1:1: found a node with 4 branches below it, expected 2 or 3",
        );
        check_refused(
            "(a:1,(b:2,c:3,d:4):5);",
            "x.nwk:1:6: found a node with 3 branches below it, expected 2",
        );
        check_refused(
            "(a:1,b:2,((c:3,d:4):5):1);",
            "x.nwk:1:10: found a node with 1 branches below it, expected 2",
        );
    }

    #[test]
    fn names_must_be_those_of_the_alignment() {
        check_refused(
            "(a:1,b:2,(c:3,a:4):5);",
            "x.nwk:1:15: found the tip \"a\" a second time, expected a name unlike that at x.nwk:1:2",
        );
        check_refused(
            "(a:1,b:2,(c:3,e:4):5);",
            "x.nwk:1:15: found the tip \"e\", expected a name of the alignment",
        );
        check_refused(
            "(a:1,b:2,c:3);\n",
            "x.nwk:1:15: found the end of the tree, expected a tip \"d\" as in the alignment",
        );
        check_refused(
            "(a:1,b:2,(c:3,(d:4,e:1):4):5);",
            "x.nwk:1:20: found the tip \"e\", expected a name of the alignment",
        );
    }

    #[test]
    fn trees_of_real_data_are_read() {
        for name in ["hypo42", "brown41", "cognato44", "devitt69", "dornburg40", "fong107_10k"] {
            let Some(source) = shared_data(&format!("trees/{name}.nwk")) else { return };
            let (tree, names) = read_named(&source).unwrap();
            tree.check().unwrap();
            assert_eq!(names.len(), tree.taxa(), "{name}");
        }
    }
}
