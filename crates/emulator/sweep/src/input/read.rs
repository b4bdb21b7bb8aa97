//! Input files in the benchmark's free format.

use mmgp_base::error::{Error, Result};
use mmgp_base::table::Source;

use super::{COUNT, Fields, Flaw, Input, NAMES, OF_LINE};

/// A word of a file, and the byte at which it begins.
type Word<'a> = (usize, &'a str);

impl Input {
    /// Reads a file: twenty numbers, apart by blanks, commas or ends of lines wherever they are.
    /// Numbers with a fraction may have Fortran's exponents, as `1.0d-3`. What follows the last
    /// number is passed over, as Fortran does.
    ///
    /// # Errors
    /// [`Error::Input`] with the place of what is no number or not as it must be, and at the end of
    /// a file that is too short.
    pub fn read(source: &Source) -> Result<Self> {
        let words = words(&source.text);
        let mut numbers = Numbers { source, words: &words, next: 0 };
        let processes = [numbers.whole()?, numbers.whole()?];
        let [planes_of_block, angles_of_block, processors] = numbers.three_whole()?;
        let cells = numbers.three_whole()?;
        let [angles, scattering] = [numbers.whole()?, numbers.whole()?];
        let widths = [numbers.real()?, numbers.real()?, numbers.real()?];
        let convergence = numbers.real()?;
        let boundaries = numbers.three_whole()?;
        let [printing, acceleration, fix_ups] = numbers.three_whole()?;
        let fields = Fields {
            processes,
            planes_of_block,
            angles_of_block,
            processors,
            cells,
            angles,
            scattering,
            widths,
            convergence,
            boundaries,
            printing,
            acceleration,
            fix_ups,
        };
        fields.check().map_err(|Flaw { field, expected, .. }| {
            let (offset, word) = words[field];
            refused(source, offset, word, field, expected)
        })?;
        Ok(Self { fields })
    }
}

fn refused(source: &Source, offset: usize, word: &str, field: usize, expected: String) -> Error {
    source.error(offset, format!("{word} as {}", NAMES[field]), expected)
}

/// The words of a text.
fn words(text: &str) -> Vec<Word<'_>> {
    let is_between = |letter: char| letter.is_whitespace() || letter == ',' || letter == '\u{feff}';
    let mut words = Vec::new();
    let mut end = 0;
    while let Some(start) = text[end..].find(|letter| !is_between(letter)).map(|it| end + it) {
        end = text[start..].find(is_between).map_or(text.len(), |length| start + length);
        words.push((start, &text[start..end]));
    }
    words
}

/// The numbers of a file, one after the other.
struct Numbers<'a> {
    source: &'a Source,
    words: &'a [Word<'a>],
    next: usize,
}

impl Numbers<'_> {
    fn number<T>(&mut self, parse: impl Fn(&str) -> Option<T>, expected: &str) -> Result<T> {
        let field = self.next;
        let Some(&(offset, word)) = self.words.get(field) else {
            let (line, number) = place(field);
            let found = format!("the end after {field} of {COUNT} numbers");
            let expected = format!("{} (number {number} of line {line})", NAMES[field]);
            return Err(self.source.error(self.source.text.len(), found, expected));
        };
        self.next += 1;
        parse(word).ok_or_else(|| refused(self.source, offset, word, field, expected.into()))
    }

    fn whole(&mut self) -> Result<i64> {
        self.number(|word| word.parse().ok(), "a whole number")
    }

    fn three_whole(&mut self) -> Result<[i64; 3]> {
        Ok([self.whole()?, self.whole()?, self.whole()?])
    }

    fn real(&mut self) -> Result<f64> {
        self.number(real, "a number")
    }
}

/// The line of the benchmark's own files in which a number stands, and which it is there, from 1.
fn place(field: usize) -> (usize, usize) {
    let mut before = 0;
    for (line, count) in (1..).zip(OF_LINE) {
        if field < before + count {
            return (line, field - before + 1);
        }
        before += count;
    }
    unreachable!("invariant: a file has {COUNT} numbers")
}

/// A number as Fortran writes it: digits with a point perhaps, and an exponent after e or d.
fn real(word: &str) -> Option<f64> {
    let is_part = |letter: char| letter.is_ascii_digit() || "+-.eEdD".contains(letter);
    if !word.chars().all(is_part) {
        return None;
    }
    word.replace(['d', 'D'], "e").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Boundary, FixUps, Quadrature, Stop};

    const INPUT_50: &str = "2 3 10 3 16\n50 50 50 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n";

    fn read(text: &str) -> Result<Input> {
        Input::read(&Source::new("in", text))
    }

    #[test]
    fn the_benchmarks_own_file_is_read_and_written() {
        let input = read(INPUT_50).unwrap();
        assert_eq!((input.processes(), input.cells()), ([2, 3], [50; 3]));
        assert_eq!((input.planes_of_block(), input.angles_of_block()), (10, 3));
        assert_eq!((input.quadrature(), input.scatters_linearly()), (Quadrature::S6, true));
        assert_eq!((input.widths(), input.stop()), ([0.1; 3], Stop::After(12)));
        assert_eq!(input.boundaries(), [Boundary::Vacuum; 3]);
        assert_eq!(input.fix_ups(), FixUps::After(7));
        let written = input.to_string();
        assert_eq!(written, "2 3 10 3 16\n50 50 50 6 1\n0.1 0.1 0.1 -12.0\n0 0 0\n0 1 -7\n");
        assert_eq!(read(&written).unwrap(), input);
    }

    #[test]
    fn lines_may_end_anywhere_and_exponents_may_be_fortrans() {
        let text =
            "\u{feff} 1,1 99\t6 1 7 8 9\n6\r\n0 2 1.5D+0 25.d-2 1.0d-3 1 0 1 0 0 3  not read";
        let input = read(text).unwrap();
        assert_eq!((input.cells(), input.planes_of_block()), ([7, 8, 9], 9));
        assert_eq!((input.widths(), input.stop()), ([2.0, 1.5, 0.25], Stop::Within(1e-3)));
        let reflective = Boundary::Reflective;
        assert_eq!(input.boundaries(), [reflective, Boundary::Vacuum, reflective]);
        assert_eq!((input.fix_ups(), input.scatters_linearly()), (FixUps::Always, false));
        let never = read(&INPUT_50.replace("-7", "0")).unwrap();
        assert_eq!(never.fix_ups(), FixUps::Never);
    }

    fn check(from: &str, to: &str, message: &str) {
        let text = INPUT_50.replacen(from, to, 1);
        assert_ne!(text, INPUT_50);
        assert_eq!(read(&text).expect_err("must be refused").to_string(), format!("in:{message}"));
    }

    #[test]
    fn what_is_no_input_is_refused_at_its_place() {
        check("2 3", "x 3", "1:1: found x as processes along i, npe_i, expected a whole number");
        check("2 3", "2 3.", "1:3: found 3. as processes along j, npe_j, expected a whole number");
        check(
            "2 3",
            "2 0",
            "1:3: found 0 as processes along j, npe_j, expected a whole number from 1 to 1000000",
        );
        check(
            "10 3",
            "10 4",
            "1:8: found 4 as angles of a block, mmi, expected a divisor of the 6 angles of an \
             octant",
        );
        check("6 1", "4 1", "2:10: found 4 as angles of an octant, mm, expected 3 or 6");
        check(
            "6 1",
            "6 2",
            "2:12: found 2 as order of scattering, isct, expected a whole number from 0 to 1",
        );
        check(
            "50 50",
            "50 -1",
            "2:4: found -1 as cells along j, jt, expected a whole number from 1 to 1000000",
        );
        check(
            ".1 .1",
            ".1 nan",
            "3:4: found nan as width of a cell along j, dy, expected a number",
        );
        check(
            ".1 .1 .1",
            ".1 .1 1e999",
            "3:7: found 1e999 as width of a cell along k, dz, expected a finite number above 0",
        );
        let epsi = "as error to reach, epsi, expected a number above 0, or minus a whole number of \
                    iterations to 10000";
        for wrong in ["0.0", "-1.5", "-1d9", "-0"] {
            check("-12.0", wrong, &format!("3:10: found {wrong} {epsi}"));
        }
        check(
            "0 0 0",
            "0 2 0",
            "4:3: found 2 as low boundary of j, jbc, expected 0, a vacuum, or 1, where it reflects",
        );
        check(
            "0 1 -7\n",
            "0 1",
            "5:4: found the end after 19 of 20 numbers, expected fix-ups, ifixups (number 3 of \
             line 5)",
        );
    }

    #[test]
    fn values_are_refused_by_name() {
        let fields = *read(INPUT_50).unwrap().fields();
        let refused = |fields: Fields| Input::new(fields).expect_err("must be refused").to_string();
        assert_eq!(
            refused(Fields { angles: 5, ..fields }),
            "angles of an octant: found 5, expected 3 or 6"
        );
        assert_eq!(
            refused(Fields { angles_of_block: 0, ..fields }),
            "angles of a block: found 0, expected a divisor of the 6 angles of an octant"
        );
        assert_eq!(
            refused(Fields { widths: [0.1, f64::INFINITY, 0.1], ..fields }),
            "width of a cell along j: found inf, expected a finite number above 0"
        );
        assert_eq!(Input::new(fields).unwrap(), read(INPUT_50).unwrap());
    }
}
