//! Tables: CSV files with a record for each row.

use mmgp::intake::{self, Claims};
use mmgp::table::Source;
use mmgp::table::csv::{self, Record};
use mmgp::table::records::*;

use super::{Kind, Reader, first_unsound, judged};
use crate::mutation::Format;
use crate::target::Outcome;

/// Reads all rows, and again as they are written.
fn rows<R: Record + PartialEq>(source: &Source) -> Result<Outcome, String> {
    judged(csv::read::<R>(source), source, |(rows, warnings)| {
        warnings.iter().for_each(|warning| drop(warning.to_string()));
        let is_time: Vec<bool> = R::COLUMNS.iter().map(|it| it.ends_with("_s")).collect();
        let times = rows.iter().flat_map(|row| {
            let fields = row.write().into_iter().zip(&is_time);
            let times = fields.filter(|(_, is_time)| **is_time).map(|(field, _)| field);
            times.collect::<Vec<_>>()
        });
        // A time that is not known is empty. What a release costs may be less than nothing.
        let may_be_negative = R::COLUMNS.contains(&"release_s");
        let times = times.filter(|field| !field.is_empty());
        let times: Vec<f64> = times.map(|field| field.parse().unwrap_or(f64::NAN)).collect();
        let unsound = first_unsound(
            times.into_iter().map(|time| if may_be_negative { time.abs() } else { time }),
        );
        unsound.or_else(|| {
            let written = csv::write(&rows);
            match csv::read::<R>(&Source::new("written.csv", &written)) {
                Ok((again, _)) if again == rows => None,
                Ok(_) => Some(format!("reads otherwise what it wrote: {written:?}")),
                Err(error) => Some(format!("does not read what it wrote: {error}: {written:?}")),
            }
        })
    })
}

/// The two readers of runs agree, on rows and on messages: a quote, in a comment for that matter, keeps the
/// fast one away.
fn timed_runs(source: &Source) -> Result<Outcome, String> {
    let read = |text: &str| intake::runs(&Source::new(&source.name, text), &Claims::default());
    // Of a last line that is not ended, both would know another part.
    let text = format!("{}\n", source.text.trim_end());
    let (fast, general) = (read(&text), read(&format!("{text}# \"")));
    match (&fast, &general) {
        // Neither is read fast; a quote that is not closed would hold the comment, and JSON has none. A mark
        // of an editor's within the text is passed over where a row begins with it.
        _ if text.contains('"')
            || text
                .trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t'])
                .starts_with(['{', '['])
            || text.chars().skip(1).any(|it| it == '\u{feff}') => {}
        (Ok(rows), Ok(expected)) if rows == expected => {}
        (Err(one), Err(other)) if one.to_string() == other.to_string() => {}
        // An end of the file is elsewhere.
        (Err(one), Err(_))
            if ["found no rows", "found an empty file"]
                .iter()
                .any(|it| one.to_string().contains(it)) => {}
        _ => return Err(format!("fast and general differ: {fast:?} instead of {general:?}")),
    }
    let source = Source::new(&source.name, &text);
    judged(fast, &source, |(rows, _)| first_unsound(rows.iter().map(|run| run.time_s)))
}

const TABLE: Kind = Kind { format: Format::Csv, words: &[] };

pub const READERS: &[Reader] = &[
    TABLE.read(
        ("alpha-csv", "alpha.csv"),
        &[
            "matrix_size,processes,repetition,time_s\n64,1,1,0.5\n64,2,1,0.75\n# x\n64,2,2,1e-3\n",
            "time_s,repetition,processes,matrix_size\n0.5,1,1,64\n0.75,1,2,64\n",
        ],
        rows::<Alpha>,
    ),
    TABLE.read(
        ("offload-csv", "offload.csv"),
        &[
            "bytes,repetition,round_trips,time_s\n0,1,1000,0.07\n1024,1,1000,0.08\n",
            "bytes,repetition,round_trips,time_s,mode\n0,1,1000,0.07,pingpong\n0,1,1000,0.08,send\n\
             8,1,10,0.25,stream\n",
        ],
        rows::<Offload>,
    ),
    TABLE.read(
        ("context-switch-csv", "context_switch.csv"),
        &["processes,repetition,switches,time_s\n2,1,1000,0.002\n4,1,9,1\n"],
        rows::<ContextSwitch>,
    ),
    TABLE.read(
        ("collective-csv", "collective.csv"),
        &[
            "operation,ranks,bytes,repetition,calls,time_s\nallreduce,2,8,1,100,0.01\n\"a,b\",4,8,1,1,2\n",
        ],
        rows::<Collective>,
    ),
    TABLE.read(
        ("memory-csv", "memory.csv"),
        &["accelerators,bytes,repetition,time_s\n1,1048576,1,1e-3\n2,1048576,1,0.002\n"],
        rows::<MemoryStream>,
    ),
    TABLE.read(
        ("profile-csv", "profile.csv"),
        &[
            "phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,apu_serial_time_s,\
           gap_time_s\nnewview,1,10,0,1,2,3,0.5\nx,1,0,1,0,0,0,0\n\"a \"\"b\"\", c\",2,1,1,1e-9,1e9,0.1,0\n",
        ],
        rows::<Profile>,
    ),
    TABLE.read(
        ("predictions-csv", "predictions.csv"),
        &[
            "rank,m,p,time_s,low_s,high_s,probability_best,speedup,efficiency,expected_regret_s,\
             regret_95_s,indistinguishable\n1,4,4,32,31,33,0.9,10,0.6,0.1,0.3,1\n",
            "rank,m,p,time_s,low_s,high_s,probability_best,speedup,efficiency,expected_regret_s,\
             regret_95_s,indistinguishable,measured_s,beyond\n1,4,4,32,31,33,,10,0.6,0.1,0.3,1,31.5,0\n\
             2,1,1,320,310,330,0,1,1,290,295,0,,1\n",
        ],
        rows::<Prediction>,
    ),
    TABLE.read(
        ("validation-csv", "validation.csv"),
        &[
            "m,p,measured_s,predicted_s,error_percent,refined_s\n1,1,10,11,10,10.5\n2,1,5,5.5,10,\n",
            "m,p,measured_s,predicted_s,error_percent\n1,1,10,11,10\n16,1,5,4,-20\n",
        ],
        rows::<Validation>,
    ),
    TABLE.read(
        ("split-csv", "split.csv"),
        &[
            "m,p,time_s,host_s,start_s,apu_shared_s,apu_serial_s,wait_s,idle_s\n1,1,10,1,0.5,4,3,1,0.5\n\
           2,1,5,0,0,5,0,0,0\n",
        ],
        rows::<Split>,
    ),
    TABLE.read(
        ("schedulers-csv", "schedulers.csv"),
        &["scheduler,workers,tasks,spes_per_task,time_s,apu_busy_percent,apu_idle_per_offload_us,\
           context_switches,offloads,seed\nedtlp,8,8,1,0.5,80,2.5,1000,10000,1\n\
           llp:own,2,8,4,0.7,60,-1,0,9999,18446744073709551615\n"],
        rows::<Scheduled>,
    ),
    TABLE.read(
        ("machine-csv", "machine.csv"),
        &[
            "group,figure,what,relation,published,emulated,unit,error_percent,basis,fact,constants,confirmed,\
           source,remark\nspu,a,b,,1,1.1,ns,10,independent,f,,yes,c,\ndma,a/2,b,<,1,0.5,ns,0,input,f,x y,no,c,d\n",
        ],
        rows::<MachineFigure>,
    ),
    TABLE.read(
        ("turns-csv", "turns.csv"),
        &["turn,ppe_us,task_us\n1,10,100\n2,5.5,96\n"], rows::<Turn>),
    TABLE.read(
        ("messages-csv", "messages.csv"),
        &["link,bytes,early_s,late_s,release_s,half_round_trip_s,rate_bytes_per_s\n\
           spe,16,1e-6,2e-6,-1e-7,1.5e-6,\nblade,0,1e-5,2e-5,0,1.5e-5,1e9\n"],
        rows::<MessageTime>,
    ),
    TABLE.read(
        ("threads-csv", "threads.csv"),
        &[
            "heads,p,sublists,buffers,nodes,repetition,time_s,step_1_s,step_2_s,step_3_s,step_4_s,load_imbalance\n\
           random,8,64,8,1048576,1,0.5,0.1,0.3,0.05,0.05,1.5\neven,1,8,1,1024,2,1,0,1,0,0,1\n",
        ],
        rows::<ThreadRun>,
    ),
    TABLE.read(
        ("blocks-csv", "blocks.csv"),
        &["cells,lines,angles,repetition,time_s\n10,4,6,1,1e-5\n20,4,6,1,2e-5\n"],
        rows::<BlockRun>,
    ),
    TABLE.read(
        ("block-messages-csv", "block_messages.csv"),
        &["link,way,bytes,repetition,time_s\nspe,pingpong,128,1,1e-6\nnode,early,0,2,1e-5\n"],
        rows::<MessageRun>,
    ),
    // Plain, so that the fast reader takes them; and not, so that it does not.
    TABLE.read(
        ("runs-csv", "runs.csv"),
        &[
            "m,p,repetition,time_s\n1,1,1,3.5\n2,1,1,2\n2,1,2,2.000001\n# end\n16,16,1,0.30000000000000004\n",
            "m,p,repetition,time_s\n1,1,1,3.5\n2,1,1,timeout\n2,1,2,\n",
            "m;p;time_ms;status\n1;1;3;ok\n2;1;nan;OK\n2;1;4;failed\n",
            "# runs\n\ntime_s,m,p,repetition,host\n3,1,1,1,a\n\"4\",2,1,1,\"b,c\"\n",
        ],
        timed_runs,
    ),
];
