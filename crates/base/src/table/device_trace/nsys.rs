//! Databases that `nsys export --type sqlite` of Nsight Systems writes.
//!
//! After NVIDIA's *Nsight Systems Analysis Guide*, section *SQLite Schema Reference*, of release
//! 2026.4 (schema 3.28.1), and the file `export_schema_version_notes.txt` that is installed with
//! it. The schema has a version of three numbers in `META_DATA_EXPORT`: the first changes with the
//! whole of it, the second where a column is renamed or changes its type, the third where something
//! is added. Tables of which there is nothing to tell may be missing. Times are nanoseconds;
//! `correlationId` is the same in a call and in what it started, and only within one process.
//!
//! Left out: what other tables know of the host (NVTX, the operating system), so that the time of a
//! trace runs from its first call of CUDA or MPI to its last.

use std::io;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, Row};

use super::DeviceTrace;
use super::recording::{Interval, Recording, kernel_name, transfer_name};
use crate::error::{Error, Result};

/// The first number of the schema's version.
const MAJOR: u32 = 3;

/// The last second number whose changes are known: none of up to there touches what is read here.
const LAST_MINOR: u32 = 28;

/// The entry that has the version.
const VERSION: &str = "EXPORT_SCHEMA_VERSION";

/// A table of what devices did: its name, an expression for what was done, and how that is read.
type Work = (&'static str, &'static str, fn(&str) -> String);

/// What devices did.
const WORK: [Work; 4] = [
    (
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "(SELECT value FROM StringIds WHERE id = shortName)",
        kernel_name,
    ),
    ("CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", copied),
    ("CUPTI_ACTIVITY_KIND_MEMSET", "'Memset'", transfer_name),
    // What a graph did, where its kernels were not recorded one by one.
    ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "'CUDA graph'", transfer_name),
];

/// Calls of CUDA's runtime and driver.
const CALLS: &str = "CUPTI_ACTIVITY_KIND_RUNTIME";

/// Collective operations of MPI.
const COLLECTIVES: &str = "MPI_COLLECTIVES_EVENTS";

/// Femtoseconds in a nanosecond.
const FEMTOSECONDS: i128 = 1_000_000;

/// Reads a database.
pub(super) fn read(path: &Path) -> Result<DeviceTrace> {
    let database = Database::open(path)?;
    database.check_version()?;
    let mut gathered = Recording::default();
    for (table, name, called) in WORK {
        let columns = format!("start, \"end\", {name}, deviceId, globalPid, correlationId");
        database.rows(table, &columns, |row| {
            let (when, name) = (recorded(row)?, text(row, 2)?);
            let (device, process) = (text(row, 3)?, text(row, 4)?);
            gathered.works(when, &called(&name), &format!("{process} {device}"), number(row, 5)?);
            gathered.launches_in(&process);
            Ok(())
        })?;
    }
    let name = "(SELECT value FROM StringIds WHERE id = nameId)";
    let columns = format!("start, \"end\", {name}, globalTid & ~0xffffff, correlationId");
    database.rows(CALLS, &columns, |row| {
        gathered.calls(recorded(row)?, &text(row, 2)?, &text(row, 3)?, number(row, 4)?);
        Ok(())
    })?;
    database.rows(COLLECTIVES, "start, \"end\"", |row| {
        gathered.collective(recorded(row)?);
        Ok(())
    })?;
    if gathered.is_idle() {
        let advice = "record CUDA too, with `nsys profile --trace=cuda`";
        let found = "no kernel, copy or set of a device";
        return Err(Error::too_little(path.display().to_string(), found, advice));
    }
    Ok(gathered.finish(&path.display().to_string()))
}

struct Database<'a> {
    path: &'a Path,
    connection: Connection,
    /// Names of the tables that there are.
    tables: Vec<String>,
}

impl<'a> Database<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error| failed(path, &error);
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        let names = "SELECT name FROM sqlite_master WHERE type = 'table'";
        let tables = connection.prepare(names).and_then(|mut names| {
            names.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        });
        let tables = tables.map_err(failed)?;
        Ok(Self { path, connection, tables })
    }

    /// Refuses a schema whose columns may mean something else.
    fn check_version(&self) -> Result<()> {
        let mut version = None;
        let columns = format!("value FROM META_DATA_EXPORT WHERE name = '{VERSION}'");
        if self.has("META_DATA_EXPORT") {
            self.select("META_DATA_EXPORT", &columns, |row| {
                version = Some(text(row, 0)?);
                Ok(())
            })?;
        }
        let numbers = version.as_deref().map(|version| {
            let mut numbers = version.split('.').map(|number| number.parse::<u32>().ok());
            (numbers.next().flatten(), numbers.next().flatten())
        });
        match numbers {
            Some((Some(MAJOR), Some(minor))) if minor <= LAST_MINOR => Ok(()),
            _ => Err(Error::out_of_range(
                VERSION,
                format!("{} in {}", version.as_deref().unwrap_or("none"), self.path.display()),
                format!(
                    "{MAJOR}.0 to {MAJOR}.{LAST_MINOR}, the schemas of Nsight Systems that are known"
                ),
            )),
        }
    }

    fn has(&self, table: &str) -> bool {
        self.tables.iter().any(|name| name == table)
    }

    /// Hands every row of a table to `take`, if there is that table.
    fn rows(
        &self,
        table: &str,
        columns: &str,
        take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        if !self.has(table) {
            return Ok(());
        }
        self.select(table, &format!("{columns} FROM {table} ORDER BY start, rowid"), take)
    }

    fn select(
        &self,
        table: &str,
        columns: &str,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let mut count = 0;
        let read = self.connection.prepare(&format!("SELECT {columns}")).and_then(|mut select| {
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                count += 1;
                take(row)?;
            }
            Ok(())
        });
        read.map_err(|error| match error {
            rusqlite::Error::InvalidColumnType(..) | rusqlite::Error::InvalidColumnName(_) => {
                let place = format!("table {table}, row {count} by its start: {error}");
                Error::Read { file: self.path.into(), source: io::Error::other(place) }
            }
            error => failed(self.path, &error),
        })
    }
}

fn failed(path: &Path, error: &rusqlite::Error) -> Error {
    Error::Read { file: path.into(), source: io::Error::other(error.to_string()) }
}

/// The first two columns: begin and end. What has not ended has no end, or one before its begin.
fn recorded(row: &Row<'_>) -> rusqlite::Result<Interval> {
    let (start, end): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
    let end = end.filter(|&end| end >= start);
    let femtoseconds = |nanoseconds| i128::from(nanoseconds) * FEMTOSECONDS;
    Ok(Interval { start_fs: femtoseconds(start), end_fs: end.map(femtoseconds) })
}

/// A text or a whole number; nothing is no text.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    use rusqlite::types::ValueRef;
    Ok(match row.get_ref(column)? {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        _ => row.get(column)?,
    })
}

/// What belongs to no call has the number 0, or none.
fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = row.get(column)?;
    Ok(number.and_then(|number| u64::try_from(number).ok()).filter(|&number| number != 0))
}

/// What a copy is called, by its `CUpti_ActivityMemcpyKind`.
fn copied(kind: &str) -> String {
    let way = match kind {
        "1" => "HtoD",
        "2" => "DtoH",
        "3" => "HtoA",
        "4" => "AtoH",
        "5" => "AtoA",
        "6" => "AtoD",
        "7" => "DtoA",
        "8" => "DtoD",
        "9" => "HtoH",
        "10" => "PtoP",
        _ => return "Memcpy".into(),
    };
    format!("Memcpy {way}")
}

#[cfg(test)]
mod tests {
    use super::super::{Activity, Launch, Stretch};
    use super::*;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A database in a file of its own, which goes with it.
    struct File(PathBuf);

    impl Drop for File {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// Columns of the tables as in schema 3.28.1, without most of those that are not read.
    const SCHEMA: &str = "
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
    eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL,
    returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL);
INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaMemcpy_v3020'),
    (3, 'cudaDeviceSynchronize_v3020'), (4, 'f'), (5, 'void f<int>(int)'), (6, 'cudaMalloc_v3020');
";

    /// A process 5, whose threads and which itself are serialized so.
    const PROCESS: i64 = 5 << 24;

    fn database(version: &str, more: &str) -> File {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("mmgp-nsys-{}-{number}.sqlite", std::process::id());
        let file = File(std::env::temp_dir().join(name));
        let connection = Connection::open(&file.0).expect("a database");
        connection.execute_batch(SCHEMA).expect("the schema");
        let version = format!("INSERT INTO META_DATA_EXPORT VALUES ('{VERSION}', '{version}');");
        connection.execute_batch(&version).expect("a version");
        connection.execute_batch(more).expect("rows");
        file
    }

    /// Nanoseconds.
    fn ns(start: i128, end: i128) -> Stretch {
        Stretch { start_fs: start * FEMTOSECONDS, end_fs: end * FEMTOSECONDS }
    }

    fn run(process: i64) -> String {
        format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES
                (100, 200, 0, {thread}, 1, 6, 0, NULL), (1000, 1500, 0, {thread}, 2, 1, 0, NULL),
                (1600, 4100, 0, {thread}, 3, 3, 0, NULL), (5000, 5900, 0, {thread}, 4, 2, 0, NULL);
            INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
                (2000, 4000, 0, 1, NULL, 7, 2, {process}, 5, 4);
            CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
                deviceId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
                copyKind INTEGER NOT NULL);
            INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5300, 5800, 0, 4, {process}, 2);
            CREATE TABLE MPI_COLLECTIVES_EVENTS (start INTEGER NOT NULL, end INTEGER);
            INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (6000, NULL), (6100, 6400);",
            thread = process + 17,
        )
    }

    #[test]
    fn a_database_says_what_a_trace_does() {
        for version in ["3.28.1", "3.0.5"] {
            let trace = read(&database(version, &run(PROCESS)).0).unwrap();
            assert_eq!(trace.functions, ["f", "Memcpy DtoH"]);
            assert_eq!(trace.window, ns(100, 6400));
            let (kernel, copy) = (ns(2000, 4000), ns(5300, 5800));
            assert_eq!(
                trace.activities,
                [
                    Activity { when: kernel, function: 0, device: 0 },
                    Activity { when: copy, function: 1, device: 0 }
                ]
            );
            // The kernel begins after its call has returned; the call of the copy waits for it.
            assert_eq!(
                trace.launches,
                [
                    Launch { when: ns(1000, 2000), call: ns(1000, 1500), function: 0 },
                    Launch { when: ns(5000, 5900), call: ns(5000, 5900), function: 1 },
                ]
            );
            assert_eq!(trace.waits, [ns(1600, 4100)]);
            assert_eq!(
                trace.collectives.iter().map(|it| it.start_fs).collect::<Vec<_>>(),
                [6000 * FEMTOSECONDS, 6100 * FEMTOSECONDS]
            );
            assert_eq!((trace.devices, trace.processes), (1, 1));
            assert_eq!(trace.warnings, []);
        }
    }

    #[test]
    fn processes_and_devices_are_told_apart() {
        let other = PROCESS + (1 << 24);
        let more = format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
                (2000, 4000, 1, 1, NULL, 7, 2, {PROCESS}, 5, 4), (2000, 4000, 0, 1, NULL, 7, 2, {other}, 5, 4);"
        );
        let trace = read(&database("3.17.2", &(run(PROCESS) + &more)).0).unwrap();
        assert_eq!((trace.devices, trace.processes), (3, 2));
    }

    #[test]
    fn a_kernel_without_an_end_lasts_as_long_as_the_trace() {
        let more = format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
                (6200, 0, 0, 1, NULL, 7, NULL, {PROCESS}, 5, 4);"
        );
        let trace = read(&database("3.17.2", &(run(PROCESS) + &more)).0).unwrap();
        assert_eq!(trace.activities[2].when, ns(6200, 6400));
        let warnings: Vec<String> = trace.warnings.iter().map(ToString::to_string).collect();
        assert!(warnings[0].ends_with("1 event has no end and lasts until the trace stops"));
        assert!(warnings[1].contains("the launch of 1 off-load, whose gap"), "{warnings:?}");
    }

    #[test]
    fn a_schema_that_is_not_known_is_refused_by_name() {
        for (version, shown) in
            [("4.0.0", "4.0.0"), ("3.29.0", "3.29.0"), ("2.9.1", "2.9.1"), ("x", "x")]
        {
            let file = database(version, &run(PROCESS));
            let error = read(&file.0).unwrap_err().to_string();
            let expected = format!(
                "EXPORT_SCHEMA_VERSION: found {shown} in {}, expected 3.0 to 3.28, the schemas of \
                 Nsight Systems that are known",
                file.0.display()
            );
            assert_eq!(error, expected);
        }
        let file = database("3.28.1", "DROP TABLE META_DATA_EXPORT;");
        let error = read(&file.0).unwrap_err().to_string();
        assert!(error.starts_with("EXPORT_SCHEMA_VERSION: found none in "), "{error}");
    }

    #[test]
    fn a_database_without_what_is_needed_is_refused() {
        let check = |more: &str, message: &str| {
            let error = read(&database("3.28.1", more).0).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        };
        check("", "no kernel, copy or set of a device; record CUDA too, with `nsys profile");
        check("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;", "no kernel, copy or set of a device");
        check(
            "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN shortName TO name;",
            "no such column: shortName",
        );
        let row = format!("VALUES (10, 'soon', 0, 1, NULL, 7, 2, {PROCESS}, 5, 4);");
        check(
            &format!("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL {row}"),
            "table CUPTI_ACTIVITY_KIND_KERNEL, row 1 by its start: Invalid column type Text",
        );
        let file = database("3.28.1", "");
        std::fs::write(&file.0, b"SQLite format 3\0 and nothing else").expect("it is written");
        let error = DeviceTrace::read(&file.0).unwrap_err().to_string();
        assert!(error.starts_with("cannot read ") && error.contains("not a database"), "{error}");
    }
}
