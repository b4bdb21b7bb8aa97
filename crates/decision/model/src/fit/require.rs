//! Terms that somebody needs as themselves, not as a part of a sum.

use super::Fitted;
use super::report::TermReport;
use crate::models::terms::Term;
use mmgp_base::error::{Error, Result};

/// Why a term is not known.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Undetermined {
    /// The term, by its name in parameter files.
    pub term: String,
    /// `sum`: only a sum with others is known; `traded`: others can take its place in these runs;
    /// `not_measured`: nothing tells of it.
    pub reason: &'static str,
    /// All terms of the sum, or that can take each other's place, this one included.
    pub sum: Vec<String>,
    /// What would determine it: files of [`Inputs`](super::Inputs).
    pub measure: &'static str,
}

impl Fitted {
    /// Which of the named terms the data do not determine.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] for a name that no term has.
    pub fn undetermined(&self, names: &[String]) -> Result<Vec<Undetermined>> {
        let terms = &self.report.terms;
        let mut found = Vec::new();
        for name in names {
            let Some(line) = terms.iter().find(|line| line.term == name) else {
                let known: Vec<String> = terms.iter().map(|line| line.term.to_string()).collect();
                return Err(Error::UnknownName { kind: "term", name: name.clone(), known });
            };
            found.extend(self.why_not(line));
        }
        Ok(found)
    }

    fn why_not(&self, line: &TermReport) -> Option<Undetermined> {
        let source = |line: &TermReport| {
            let known = line.values.last().and_then(|(_, estimate)| estimate.source.clone());
            known.unwrap_or_default()
        };
        let carrier = source(line).strip_prefix("carried by ").map(str::to_string);
        let carrier = carrier.as_deref().unwrap_or(line.term);
        let carrying = self.report.terms.iter().find(|each| each.term == carrier)?;
        let (_, estimate) = carrying.values.last()?;
        let undetermined = |reason, sum| {
            let measure = Term::named(line.term)?.measured_by();
            Some(Undetermined { term: line.term.to_string(), reason, sum, measure })
        };
        if !estimate.combined_with.is_empty() {
            let sum = [carrier.to_string()].into_iter().chain(estimate.combined_with.clone());
            return undetermined("sum", sum.collect());
        }
        if self.traded.contains(&carrier) {
            return undetermined("traded", self.traded.iter().map(ToString::to_string).collect());
        }
        if source(line) == crate::models::parameters::NOT_MEASURED {
            return undetermined("not_measured", Vec::new());
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::trials::{TERMS, exact_runs, fitted, only, truth};
    use crate::models::parameters::Decomposition;

    #[test]
    fn a_term_is_undetermined_as_part_of_a_sum_or_because_nothing_tells_of_it() {
        let configurations = [(1, 1), (1, 2), (1, 4), (2, 1), (2, 2)];
        let runs = exact_runs(&truth(Decomposition::Data, 0.08, TERMS), &configurations);
        let fitted = fitted(&only(runs), Decomposition::Data).unwrap();
        let asked = ["t_apu_s", "o_offload_s", "t_hpu_s", "offloads"].map(String::from);
        let found = fitted.undetermined(&asked).unwrap();
        let told: Vec<(&str, &str)> =
            found.iter().map(|each| (each.term.as_str(), each.reason)).collect();
        // T_APU is known by itself.
        let sum = "sum";
        assert_eq!(told, [("o_offload_s", sum), ("t_hpu_s", sum), ("offloads", "not_measured")]);
        let all = ["t_hpu_s", "c_apu_s", "o_offload_s", "t_csw_s"];
        assert_eq!([&found[0].sum, &found[1].sum], [&all, &all]);
        assert_eq!(found[2].sum, [""; 0]);
        let error = fitted.undetermined(&["t_gpu_s".into()]).unwrap_err().to_string();
        assert!(error.contains("t_gpu_s") && error.contains("t_hpu_s"), "{error}");
    }
}
