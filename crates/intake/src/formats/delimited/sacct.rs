//! What `sacct -P` writes: fields between bars, never quoted.

use super::separated::Dialect;
use super::{Format, Table};

pub(super) const FORMAT: Format = Format {
    name: "sacct -P",
    table: |text| {
        let layout = DIALECT.layout(text);
        let is_of_sacct = |name: &str| FIELDS.split_whitespace().any(|known| known == name);
        let known = layout.names.iter().filter(|name| is_of_sacct(&name.text)).count();
        (layout.names.len() > 1 && known >= 2).then(|| {
            let (columns, rows) = DIALECT.below(text.source, &layout)?;
            Ok(Table { columns, rows: Box::new(rows) })
        })
    },
};

const DIALECT: Dialect = Dialect { separator: b'|', has_quotes: false };

/// Names of fields by which its tables are recognised, of which at least two are there.
const FIELDS: &str = "JobID JobIDRaw JobName State NTasks NCPUS NNodes AllocCPUS AllocNodes ReqCPUS \
    ReqNodes Elapsed ElapsedRaw ExitCode DerivedExitCode Partition Account NodeList MaxRSS";
