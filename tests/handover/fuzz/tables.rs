//! CSV, and the runs of other tools.

use mmgp::table::csv::{self, Record};
use mmgp::table::records::*;
use mmgp::table::{Columns, Source, runs, runs_of};

use super::{Read, fuzz, sane};

/// The times of all rows.
fn times<R: Record>(text: &str) -> Result<Read, String> {
    sane(csv::read::<R>(&Source::new("x.csv", text)), |(rows, _)| {
        let is_time: Vec<bool> = R::COLUMNS.iter().map(|column| column.ends_with("_s")).collect();
        rows.iter()
            .flat_map(|row| {
                row.write()
                    .into_iter()
                    .zip(&is_time)
                    .filter(|(_, is_time)| **is_time)
                    .map(|(field, _)| field)
                    // A time that is not known.
                    .filter(|field| !field.is_empty())
                    .collect::<Vec<_>>()
            })
            .map(|field| field.parse().unwrap_or(f64::NAN))
            .collect()
    })
}

macro_rules! tables {
    ($($name:ident: $record:ty = $seed:expr;)+) => {
        $(
            #[test]
            fn $name() {
                fuzz(&[$seed], times::<$record>);
            }
        )+
    };
}

tables! {
    alpha: Alpha = "matrix_size,processes,repetition,time_s\n64,1,1,0.5\n64,2,1,0.75\n# x\n64,2,2,1e-3\n";
    offload: Offload = "bytes,repetition,round_trips,time_s\n0,1,1000,0.07\n1024,1,1000,0.08\n";
    context_switch: ContextSwitch = "processes,repetition,switches,time_s\n2,1,1000,0.002\n4,1,9,1\n";
    collective: Collective =
        "operation,ranks,bytes,repetition,calls,time_s\nallreduce,2,8,1,100,0.01\n\"a,b\",4,8,1,1,2\n";
    profile: Profile = "phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,\
                        apu_serial_time_s,gap_time_s\nnewview,1,10,0,1,2,3,0.5\nx,1,0,1,0,0,0,0\n";
    prediction: Prediction =
        "rank,m,p,time_s,low_s,high_s,probability_best,speedup,efficiency,expected_regret_s,\
         regret_95_s,indistinguishable\n1,4,4,32,31,33,0.9,10,0.6,0.1,0.3,1\n";
    validation: Validation = "m,p,measured_s,predicted_s,error_percent,refined_s\n1,1,10,11,10,10.5\n\
                              2,1,5,5.5,10,\n";
    split: Split = "m,p,time_s,host_s,start_s,apu_shared_s,apu_serial_s,wait_s,idle_s\n\
                    1,1,10,1,0.5,4,3,1,0.5\n2,1,5,0,0,5,0,0,0\n";
    machine_figure: MachineFigure =
        "group,figure,what,relation,published,emulated,unit,error_percent,basis,fact,constants,confirmed,\
         source,remark\nspu,a,b,,1,1.1,ns,10,independent,f,,yes,c,\n";
}

/// Plain, so that the fast reader takes them; and not, so that it does not.
const RUNS: &[&str] = &[
    "m,p,repetition,time_s\n1,1,1,3.5\n2,1,1,2\n2,1,2,2.000001\n# end\n16,16,1,0.30000000000000004\n",
    "m,p,repetition,time_s\n1,1,1,3.5\n2,1,1,timeout\n2,1,2,\n",
    "m;p;time_ms;status\n1;1;3;ok\n2;1;nan;OK\n2;1;4;failed\n",
    "# runs\n\ntime_s,m,p,repetition,host\n3,1,1,1,a\n\"4\",2,1,1,\"b,c\"\n",
];

/// The two readers of runs agree, on rows and on messages. A byte order mark sends a file to the
/// general one and moves no place.
#[test]
fn timed_runs() {
    fuzz(RUNS, |text| {
        let insert = |(rows, keys): &mut (Vec<Run>, std::collections::BTreeSet<_>), run: Run| {
            let is_new = keys.insert(run.key());
            rows.push(run);
            is_new
        };
        let collect = |text: &str| {
            let source = Source::new("x.csv", text);
            runs::collect(&source, &Columns::default(), Default::default, insert)
                .map(|((rows, _), warnings): ((Vec<Run>, _), _)| (rows, warnings))
        };
        let text = text.trim_start_matches('\u{feff}');
        let (fast, general) = (collect(text), collect(&format!("\u{feff}{text}")));
        match (&fast, &general) {
            (Ok(rows), Ok(expected)) if rows == expected => {}
            (Err(one), Err(other)) if one.to_string() == other.to_string() => {}
            _ => return Err(format!("{fast:?} instead of {general:?}")),
        }
        sane(general, |(rows, _)| rows.iter().map(|run| run.time_s).collect())
    });
}

/// What [`runs_of`] gives: whole repetitions from 1, no key twice.
fn foreign(text: &str) -> Result<Read, String> {
    let read = || runs_of(&Source::new("x", text), &Columns::default());
    let result = read();
    if let Ok(Some((runs, _))) = &result {
        let keys: std::collections::BTreeSet<_> = runs.iter().map(Record::key).collect();
        if keys.len() != runs.len() || runs.is_empty() {
            return Err(format!("{} keys of {} runs", keys.len(), runs.len()));
        }
        if runs.iter().any(|run| run.m == 0 || run.p == 0 || run.repetition == 0) {
            return Err("m, p or a repetition of 0".into());
        }
    }
    match sane(result, |runs| {
        runs.iter().flat_map(|(runs, _)| runs).map(|run| run.time_s).collect()
    }) {
        Ok(Read::Accepted) if !matches!(read(), Ok(Some(_))) => Ok(Read::Refused),
        other => other,
    }
}

#[test]
fn extra_p_text() {
    fuzz(
        &[
            "# runs\nPARAMETER m p\nPOINTS (1 1) (2 4)\nPOINTS ( 4 1 )\n\nREGION run\nMETRIC visits\n\
           DATA 1\nMETRIC time\nDATA 8.5 8.25\nDATA 1.5e0\nDATA 2 3 4\n",
        ],
        foreign,
    );
}

#[test]
fn extra_p_json() {
    fuzz(
        &[r#"{"parameters": ["m", "p"], "measurements": {"run": {"visits": [],
              "time": [{"point": [1, 1], "values": [8.5, 8.25]}, {"point": [4, 2], "values": 1.5}]}}}"#],
        foreign,
    );
}

#[test]
fn extra_p_json_lines() {
    fuzz(
        &["{\"params\": {\"m\": 1, \"p\": 1}, \"callpath\": \"run\", \"value\": [8.5, 8.25]}\n\
           {\"params\": {\"m\": 2, \"p\": 4}, \"callpath\": \"run\", \"metric\": \"time\", \"value\": 1}\n"],
        foreign,
    );
}

#[test]
fn hyperfine_json() {
    fuzz(
        &[r#"{"results": [{"command": "x 1 1", "mean": 2.5, "stddev": null, "times": [2, 3],
              "exit_codes": [0, 0], "parameters": {"m": "1", "p": "1"}},
              {"times": [0.5], "parameters": {"m": 2, "p": 4}}]}"#],
        foreign,
    );
}
