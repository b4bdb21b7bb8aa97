//! The triplet of an algorithm by hand: a file of formulas over named sizes.
//!
//! ```toml
//! name = "list-ranking"
//! description = "..."
//! source = "..."
//!
//! [sizes]                                 # with the values that they have unless others are given
//! n = 1048576
//! p = 8
//! s = 64
//!
//! [constants]                             # numbers with names
//! work = 75
//!
//! [computation]                           # T_C [cycles]
//! host = "40 * s"
//! accelerator = "work * n / p"
//!
//! [[requests]]                            # T_D: one table for each size of transfer
//! count = "n / p"
//! bytes = "16"
//!
//! [overlap]
//! outstanding = "s / p"                   # how many requests are under way at most
//!
//! [branches]                              # T_B
//! conditional = "2 * n / p"
//! wrong = "0"
//! ```

use mmgp_base::error::{Error, Result, of_name};
use mmgp_base::table::Source;
use mmgp_base::table::toml::{Document, Table};

use super::Sizes;
use super::bound::{Constants, Demand};
use super::steps::{Fact, Facts, Transfers};
use mmgp_base::expression::{Expression, Kind, Names, is_name};

/// An algorithm by its formulas.
#[derive(Debug, Clone)]
pub struct Algorithm {
    /// Name of the algorithm.
    pub name: String,
    /// What it is, in a line or two.
    pub description: String,
    /// Origin of the formulas.
    pub source: String,
    /// Sizes; `n` is that of the input.
    pub sizes: Sizes,
    host: SizeFormula,
    accelerator: SizeFormula,
    requests: Vec<RequestFormula>,
    outstanding: SizeFormula,
    conditional: SizeFormula,
    wrong: SizeFormula,
}

/// A number over the sizes.
#[derive(Debug, Clone)]
struct SizeFormula {
    text: String,
    expression: Expression,
    /// Place in the file, for messages.
    place: mmgp_base::error::Position,
}

/// Requests of one size.
#[derive(Debug, Clone)]
struct RequestFormula {
    count: SizeFormula,
    bytes: SizeFormula,
}

/// Name, file name for messages, and text of every algorithm that comes with the library.
const BUILT_IN: [(&str, &str, &str); 2] = [
    (
        "matrix-product",
        "models/complexity/matrix-product.toml",
        include_str!("../../models/complexity/matrix-product.toml"),
    ),
    (
        "list-ranking",
        "models/complexity/list-ranking.toml",
        include_str!("../../models/complexity/list-ranking.toml"),
    ),
];

/// The names that [`Algorithm::named`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, ..)| *name)
}

/// The size of the input.
pub const INPUT: &str = "n";

/// Factor by which a formula that grows with the input is more at twice the input.
const GROWS: f64 = 1.01;

impl Algorithm {
    /// The algorithm of that name; [`Error::UnknownName`] lists the known ones.
    pub fn named(name: &str) -> Result<Self> {
        let (_, file, text) = of_name("file of formulas", &BUILT_IN, |(name, ..)| name, name)?;
        Self::read(&Source::new(file, text))
    }

    /// Reads a file of formulas.
    ///
    /// # Errors
    /// [`Error::Input`] with the place of what cannot be read.
    pub fn read(source: &Source) -> Result<Self> {
        let document = Document::parse(source)?;
        let root = document.root();
        root.expect_keys(&[
            "name",
            "description",
            "source",
            "sizes",
            "constants",
            "computation",
            "requests",
            "overlap",
            "branches",
        ])?;
        let mut sizes = numbers(&root.table("sizes")?)?;
        // The input first, then the processors, the rest by the alphabet.
        sizes.sort_by_key(|(name, _)| match name.as_str() {
            INPUT => 0,
            "p" => 1,
            _ => 2,
        });
        if !sizes.iter().any(|(name, _)| name == INPUT) {
            let sizes = root.table("sizes")?;
            return Err(sizes.error(INPUT, "no size n", "n, the size of the input"));
        }
        let constants = root.optional_table("constants")?;
        let constants = constants.as_ref().map_or_else(|| Ok(Vec::new()), numbers)?;
        let known: Vec<&str> = sizes.iter().map(|(name, _)| name.as_str()).collect();
        let reader = Reader(Names { variables: &known, constants: &constants });
        let computation = root.table("computation")?;
        computation.expect_keys(&["host", "accelerator"])?;
        let requests = root.tables("requests")?;
        let overlap = root.optional_table("overlap")?;
        overlap.as_ref().map_or(Ok(()), |overlap| overlap.expect_keys(&["outstanding"]))?;
        let branches = root.optional_table("branches")?;
        branches.as_ref().map_or(Ok(()), |it| it.expect_keys(&["conditional", "wrong"]))?;
        Ok(Self {
            name: root.text("name")?.into(),
            description: root.text("description")?.into(),
            source: root.text("source")?.into(),
            host: reader.formula(Some(&computation), "host", "0")?,
            accelerator: reader.formula(Some(&computation), "accelerator", "")?,
            requests: requests.iter().map(|it| reader.request(it)).collect::<Result<_>>()?,
            outstanding: reader.formula(overlap.as_ref(), "outstanding", "1")?,
            conditional: reader.formula(branches.as_ref(), "conditional", "0")?,
            wrong: reader.formula(branches.as_ref(), "wrong", "0")?,
            sizes: Sizes::new(sizes),
        })
    }

    /// What it asks of a machine at these sizes, which are those of [`Algorithm::sizes`].
    ///
    /// # Errors
    /// [`Error::Input`] where a formula is negative or no number there.
    pub fn demand(&self, sizes: &Sizes, constants: &Constants) -> Result<Demand> {
        let (mut requests, mut lines) = (0.0, 0.0);
        for request in &self.requests {
            let count = request.count.at(sizes)?;
            requests += count;
            lines += count * (request.bytes.at(sizes)? / constants.line).ceil();
        }
        Ok(Demand {
            issue: self.accelerator.at(sizes)?,
            requests,
            outstanding: self.outstanding.at(sizes)?,
            lines,
            all_lines: lines * sizes.of("p").unwrap_or(1.0),
            wrong: self.wrong.at(sizes)?,
            host: self.host.at(sizes)?,
        })
    }

    /// What the procedure asks about it, at these sizes.
    ///
    /// # Errors
    /// As [`Algorithm::demand`].
    pub fn facts(&self, sizes: &Sizes, constants: &Constants) -> Result<Facts> {
        let cycles = self.accelerator.at(sizes)?;
        let requests = self.requests.iter().map(|it| it.count.text.as_str());
        let requests = requests.collect::<Vec<_>>().join(" + ");
        Ok(Facts {
            at: sizes.clone(),
            input: INPUT.into(),
            host: told(&self.host.text, sizes, |at| self.host.at(at))?,
            accelerator: told(&self.accelerator.text, sizes, |at| self.accelerator.at(at))?,
            accelerator_unit: "cycles",
            requests: told(&requests, sizes, |at| self.all_requests(at))?,
            transfers: self.transfers(sizes, constants)?,
            per_request: told("T_C/T_D", sizes, |at| {
                Ok(self.accelerator.at(at)? / self.all_requests(at)?.max(f64::MIN_POSITIVE))
            })?,
            overlap: None,
            branches: told(&self.conditional.text, sizes, |at| self.conditional.at(at))?,
            wrong: told(&self.wrong.text, sizes, |at| self.wrong.at(at))?,
            cycles,
        })
    }

    fn all_requests(&self, sizes: &Sizes) -> Result<f64> {
        self.requests.iter().map(|request| request.count.at(sizes)).sum()
    }

    fn transfers(&self, sizes: &Sizes, constants: &Constants) -> Result<Option<Transfers>> {
        let at =
            |request: &RequestFormula| Ok((request.bytes.at(sizes)?, request.count.at(sizes)?));
        let all: Vec<(f64, f64)> = self.requests.iter().map(at).collect::<Result<_>>()?;
        Ok(Transfers::of(&all, constants))
    }
}

impl Transfers {
    /// Transfers of requests of these bytes, so many of each; none without any.
    pub fn of(requests: &[(f64, f64)], constants: &Constants) -> Option<Self> {
        let made = || requests.iter().filter(|(_, count)| *count > 0.0);
        let count: f64 = made().map(|(_, count)| count).sum();
        let bytes = made().map(|(bytes, _)| *bytes);
        let short = made().filter(|(bytes, _)| *bytes < constants.line);
        Some(Self {
            smallest: bytes.clone().reduce(f64::min)?,
            largest: bytes.reduce(f64::max)?,
            mean: made().map(|(bytes, count)| bytes * count).sum::<f64>() / count,
            short: short.map(|(_, count)| count).sum::<f64>() / count,
        })
    }
}

/// A quantity by its formula, which grows where it does from these sizes to twice the input.
fn told(text: &str, sizes: &Sizes, value: impl Fn(&Sizes) -> Result<f64>) -> Result<Fact> {
    let (at, mut doubled) = (value(sizes)?, sizes.clone());
    doubled.set(INPUT.into(), 2.0 * sizes.of(INPUT).unwrap_or(1.0));
    let grows = value(&doubled)? > GROWS * at;
    Ok(Fact { text: text.into(), value: at, grows: Some(grows) })
}

/// The numbers of a table by name, none of them negative.
fn numbers(table: &Table<'_>) -> Result<Vec<(String, f64)>> {
    let number = |name: &str| {
        let value = table.number(name)?;
        if !is_name(name) {
            let expected = "a name of letters, digits and _";
            return Err(table.error(name, format!("{name:?}"), expected));
        }
        if value < 0.0 {
            return Err(table.error(name, value.to_string(), "a number of 0 or more"));
        }
        Ok((name.to_string(), value))
    };
    table.keys().map(number).collect()
}

struct Reader<'a>(Names<'a>);

impl Reader<'_> {
    /// The formula at `key`, or what stands for one that is missing; an empty one must not be.
    fn formula(&self, table: Option<&Table<'_>>, key: &str, missing: &str) -> Result<SizeFormula> {
        let found = table.map_or(Ok(None), |table| table.optional_text(key))?;
        let text = match (found, table) {
            (Some(text), _) => text,
            (None, Some(table)) if missing.is_empty() => table.text(key)?,
            (None, _) => missing,
        };
        let place = table.map(|table| table.position(key));
        let place = place.unwrap_or_else(|| Source::new("", "").position(0));
        let expression = Expression::parse(text, Kind::Number, self.0).map_err(|mistake| {
            // Behind the quotation mark; a text of several lines is shown by its beginning.
            let behind = if text.contains('\n') { 0 } else { mistake.at as u64 };
            let at =
                mmgp_base::error::Position { place: place.place.further(behind), ..place.clone() };
            Error::Input { at, found: mistake.found, expected: mistake.expected }
        })?;
        Ok(SizeFormula { text: text.trim().into(), expression, place })
    }

    fn request(&self, table: &Table<'_>) -> Result<RequestFormula> {
        table.expect_keys(&["count", "bytes"])?;
        let formula = |key| self.formula(Some(table), key, "");
        Ok(RequestFormula { count: formula("count")?, bytes: formula("bytes")? })
    }
}

impl SizeFormula {
    fn at(&self, sizes: &Sizes) -> Result<f64> {
        let variables: Vec<f64> = sizes.iter().map(|(_, size)| size).collect();
        let value = self.expression.value(&variables);
        if value.is_finite() && value >= 0.0 {
            return Ok(value);
        }
        Err(Error::Input {
            at: self.place.clone(),
            found: format!("{} = {value} at {sizes}", self.text),
            expected: "a number of 0 or more".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bound::tests::CELL;
    use super::super::bound::{Bound, BoundPart};
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn the_matrix_product_hides_its_latency_but_not_all_of_its_transfers() {
        let product = Algorithm::named("matrix-product").unwrap();
        let facts = product.facts(&product.sizes, &CELL).unwrap();
        // T_D grows with n, and so does what is computed for each request.
        assert_eq!((facts.requests.grows, facts.per_request.grows), (Some(true), Some(true)));
        let at = |p: f64| {
            let mut sizes = product.sizes.clone();
            sizes.set("p".into(), p);
            Bound::of(&product.demand(&sizes, &CELL).unwrap(), &CELL)
        };
        // On four SPEs computation binds, as the paper says: 1024^3 multiply-adds, four at once.
        assert_eq!(at(4.0).dominating(), Some(BoundPart::Issue));
        assert_relative_eq!(at(4.0).time().0, 1024_f64.powi(3) / 16.0 / 3.2e9, max_relative = 1e-9);
        // Eight of them move n^2/b^2 blocks of 64 KB in as long as they compute: the order of growth
        // does not tell that.
        assert_eq!(at(8.0).dominating(), None);
        let memory = 64.0_f64.powi(2) * 65536.0 / 22.8e9;
        assert_relative_eq!(at(8.0).part(BoundPart::Bandwidth).0, memory, max_relative = 1e-9);
        assert!(at(8.0).part(BoundPart::Latency).0 < 0.01 * at(8.0).time().0);
    }

    #[test]
    fn list_ranking_needs_about_four_requests_and_the_memory_binds_eight_spes() {
        let ranking = Algorithm::named("list-ranking").unwrap();
        let facts = ranking.facts(&ranking.sizes, &CELL).unwrap();
        assert_eq!((facts.requests.grows, facts.per_request.grows), (Some(true), Some(false)));
        assert!(facts.steps(&CELL)[2].contains("ceil((L + C)/C) = 5"), "{:?}", facts);
        let at = |p: f64| {
            let mut sizes = ranking.sizes.clone();
            sizes.set("p".into(), p);
            Bound::of(&ranking.demand(&sizes, &CELL).unwrap(), &CELL)
        };
        // Eight SPEs, each a line of 128 bytes in 75 cycles: 43.7 GB/s of 22.8.
        assert_eq!(at(8.0).dominating(), Some(BoundPart::Bandwidth));
        assert_eq!(at(1.0).dominating(), Some(BoundPart::Issue));
    }

    const FILE: &str = "name = \"toy\"\ndescription = \"a toy\"\nsource = \"none\"\n\
                        [sizes]\nn = 100\np = 4\n[constants]\nc = 3\n\
                        [computation]\naccelerator = \"c * n / p\"\n\
                        [[requests]]\ncount = \"n\"\nbytes = \"200\"\n";

    #[test]
    fn a_file_by_hand() {
        let toy = Algorithm::read(&Source::new("toy.toml", FILE)).unwrap();
        let demand = toy.demand(&toy.sizes, &CELL).unwrap();
        // 3 x 100 / 4 cycles; 100 requests of two lines each, by each of four SPEs.
        let expected = Demand {
            issue: 75.0,
            requests: 100.0,
            outstanding: 1.0,
            lines: 200.0,
            all_lines: 800.0,
            ..Demand::default()
        };
        assert_eq!(demand, expected);
    }

    fn refused(from: &str, to: &str, message: &str) {
        assert!(FILE.contains(from), "{from}");
        let file = FILE.replace(from, to);
        let read = Algorithm::read(&Source::new("toy.toml", &file));
        let error = read.and_then(|toy| toy.demand(&toy.sizes, &CELL).map(|_| ())).unwrap_err();
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn a_mistake_is_shown_at_its_place_in_the_file() {
        let names = "expected n, p, a number or the constant c";
        refused("c * n / p", "c * m / p", &format!("toy.toml:10:20: found \"m\", {names}"));
        refused("\"200\"", "\"200 +\"", &format!("toy.toml:13:15: found the end, {names}"));
        refused(
            "\"200\"",
            "200",
            "toy.toml:13:9: found the number 200 for \"requests[0].bytes\", expected a string",
        );
        refused(
            "n = 100\n",
            "",
            "toy.toml:4:1: found no size n, expected n, the size of the input",
        );
        refused("n = 100", "n = -1", "toy.toml:5:5: found -1, expected a number of 0 or more");
        refused(
            "c * n / p",
            "c - n / p",
            "toy.toml:10:15: found c - n / p = -22 at n = 100, p = 4, expected a number of 0 or more",
        );
        refused(
            "accelerator",
            "acelerator",
            "toy.toml:10:14: found \"computation.acelerator\", expected one of host, accelerator; did \
             you mean \"accelerator\"?",
        );
    }

    #[test]
    fn every_algorithm_that_is_built_in_can_be_read_and_names_its_source() {
        for name in names() {
            let algorithm = Algorithm::named(name).unwrap();
            assert_eq!(algorithm.name, name);
            assert!(algorithm.source.contains("IPDPS 2007"), "{name}: {}", algorithm.source);
        }
        let unknown = Algorithm::named("list-rank").unwrap_err().to_string();
        assert!(unknown.contains("did you mean \"list-ranking\"?"), "{unknown}");
    }
}
