//! What an answer says of runs that went wrong, or may have.

use std::collections::BTreeMap;

use super::answer::Found;
use crate::Mapping;
use crate::attempt::Status;
use crate::tune::engine::mapping;

impl Found<'_> {
    /// What runs that count as good printed of errors.
    pub(super) fn complaints(&self) -> Option<String> {
        let good = || self.of_level().filter(|it| it.status == Status::Ok);
        let said = || good().filter_map(|it| Some((mapping(it), it.complaint.as_ref()?)));
        let (first, line) = said().next()?;
        Some(format!(
            "{} of {} runs that ended well printed an error, first {}: {line:?}. They count as good; --check \
             REGEX tells good runs by what they print.",
            said().count(),
            good().count(),
            self.words.of(first)
        ))
    }

    /// Configurations that did not run well, with why, those with the same reason together.
    pub(super) fn failures(&self) -> Vec<String> {
        let mut by_reason: BTreeMap<String, Vec<Mapping>> = BTreeMap::new();
        let bad = [Status::Failed, Status::Wrong, Status::Timeout];
        for attempt in self.of_level().filter(|it| bad.contains(&it.status)) {
            let reason = attempt.reason.as_deref().unwrap_or("no reason is known");
            let key = format!("{}: {reason}", attempt.status);
            let of_reason = by_reason.entry(key).or_default();
            if !of_reason.contains(&mapping(attempt)) {
                of_reason.push(mapping(attempt));
            }
        }
        let line = |(reason, mappings): (&String, &Vec<Mapping>)| {
            format!("{reason}: {}", self.listed(mappings))
        };
        by_reason.iter().map(line).collect()
    }

    /// The first of some configurations, and how many others there are.
    pub(super) fn listed(&self, mappings: &[Mapping]) -> String {
        let shown: Vec<String> = mappings.iter().take(SHOWN).map(|&it| self.words.of(it)).collect();
        let more = mappings.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        shown.join(", ") + &more
    }
}

/// So many configurations that failed for the same reason are named.
const SHOWN: usize = 6;
