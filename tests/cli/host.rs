//! `mmgp run --machine host` and `mmgp bench --machine host`

use super::Folder;

const RUN: [&str; 5] = ["run", "--app", "list-ranking", "--nodes", "5000"];
const ON_HOST: [&str; 4] = ["--machine", "host", "--format", "json"];

fn json(flags: &[&[&str]]) -> serde_json::Value {
    Folder::new().json(&flags.concat())
}

#[test]
fn this_computer_finds_the_prefixes_of_the_emulated_one() {
    for flags in [
        ["--order", "random", "--operation", "last", "--values", "sparse"],
        ["--order", "ordered", "--operation", "sum", "--values", "random"],
    ] {
        let threads = ["--p", "2", "--sublists", "16", "--buffers", "4", "--repetitions", "3"];
        let host = json(&[&RUN, &flags, &ON_HOST, &threads]);
        let emulated = json(&[&RUN, &flags, &["--p", "2", "--format", "json"]]);
        assert_eq!((&host["machine"], &host["wrong"]), (&"host".into(), &0.into()));
        assert_eq!(host["checksum"], emulated["checksum"]);
        assert_eq!((&host["nodes"], &host["repetitions"]), (&5000.into(), &3.into()));
        let time = |name: &str| host[name].as_f64().expect("a time");
        assert!(0.0 < time("time_least_s") && time("time_least_s") <= time("time_s"));
        assert!(time("time_s") <= time("time_most_s") && time("sequential_s") > 0.0);
        assert_eq!(host["steps_s"].as_array().map(Vec::len), Some(4));
        let load = host["load"].as_array().expect("a load for each thread");
        let nodes: u64 = load.iter().map(|load| load.as_u64().expect("a count")).sum();
        assert_eq!((load.len(), nodes), (2, 5000));
    }
}

#[test]
fn what_runs_on_this_computer_prints_a_table_and_a_file_of_values() {
    let folder = Folder::new();
    let run = [&RUN[..], &["--machine", "host"]].concat();
    let table = folder.succeeds(&run);
    let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert!(lines.any(|words| words == ["wrong", "0"]), "{table}");
    folder.succeeds(&[&run[..], &["--format", "csv", "--out", "x.csv"]].concat());
    let csv = folder.read("x.csv");
    let names = csv.lines().next().expect("a header");
    assert!(names.starts_with("app,machine,m,p,seed,nodes,order,"), "{names}");
    assert_eq!(csv.lines().count(), 2);
}

#[test]
fn what_this_computer_cannot_do_is_named_by_its_flag() {
    let check = |flags: &[&[&str]], message: &str| Folder::new().refuses(&flags.concat(), message);
    check(
        &[&["run", "--app", "sgemm"], &ON_HOST],
        "--machine: found host for sgemm, expected an emulated machine, or one of the \
         programs that can: list-ranking",
    );
    check(
        &[&RUN, &ON_HOST, &["--m", "2"]],
        "--m: found 2, expected 1: the threads of one process rank the list, and --p is how many",
    );
    check(&[&RUN, &ON_HOST, &["--p", "1025"]], "--p: found 1025, expected 1 to 1024");
    check(&[&RUN, &ON_HOST, &["--buffers", "65"]], "--buffers: found 65, expected 1 to 64");
    check(
        &[&RUN, &ON_HOST, &["--check-hazards"]],
        "--check-hazards: found --machine host, expected an emulated machine, which has such a thing",
    );
    check(
        &[&RUN, &["--repetitions", "3"]],
        "--repetitions: found --machine qs20, expected --machine host; on an emulated machine every \
         run takes the same time",
    );
}

#[cfg(target_os = "linux")]
mod bench {
    use std::process::Command;

    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;
    use testing::skipped;

    use crate::{Folder, Run};

    const BENCH: [&str; 9] =
        ["bench", "--machine", "host", "--budget", "1s", "--mpirun", "none", "--out", "measured"];

    /// Measures as a user may who has so many processors of those that there are.
    fn measured(folder: &Folder, processors: usize) -> Run {
        let all = sched_getaffinity(Pid::from_raw(0)).expect("it is known");
        let mut some = CpuSet::new();
        let allowed = (0..CpuSet::count()).filter(|&it| all.is_set(it).unwrap_or(false));
        for processor in allowed.take(processors) {
            some.set(processor).expect("it is one");
        }
        // Of a thread of its own, which hands it down.
        std::thread::scope(|scope| {
            let run = || {
                sched_setaffinity(Pid::from_raw(0), &some).expect("these are ours");
                Run::of(folder.command(&BENCH).env("XDG_CACHE_HOME", folder.path("cache")))
            };
            scope.spawn(run).join().expect("it runs")
        })
    }

    /// The values of a column, in the order of the rows.
    fn column(folder: &Folder, file: &str, name: &str) -> Vec<String> {
        let text = folder.read(file);
        let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(|it| it.split(','));
        let place = lines.next().and_then(|mut it| it.position(|it| it == name)).expect("a column");
        lines.map(|mut it| it.nth(place).expect("a field").to_string()).collect()
    }

    #[test]
    fn this_computer_is_measured_as_files_that_a_fit_reads() {
        let folder = Folder::new();
        let run = measured(&folder, 2);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
        let said = run.stderr.lines().last().expect("what it was measured on");
        for word in [": processors ", "frequency", "load", "a reading of the clock takes"] {
            assert!(said.contains(word), "{said}");
            assert!(folder.read("measured/alpha.csv").contains(word));
        }
        folder.write(
            "profile.csv",
            "phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,\
             apu_serial_time_s,gap_time_s\nmain,1,100,100,1,10,0.1,0.01\n",
        );
        let m = column(&folder, "measured/alpha.csv", "processes");
        let processors = if m.contains(&"4".into()) { 2 } else { 1 };
        let mut fit =
            ["fit", "--profile", "profile.csv", "--apus", "2", "--out", "p.toml"].to_vec();
        fit.extend(["--alpha", "measured/alpha.csv", "--collective", "measured/collective.csv"]);
        fit.extend(["--context-switch", "measured/context_switch.csv"]);
        if processors == 2 {
            fit.extend(["--offload", "measured/offload.csv"]);
        }
        folder.succeeds(&fit);
        let twice = (2 * processors).to_string();
        assert!(
            m.contains(&twice)
                && column(&folder, "measured/collective.csv", "ranks").contains(&twice)
        );
        if run.stderr.contains("(Portable Computing Language)") {
            let [launch, copies] = [("launch", "0"), ("offload", "65536")].map(|(kind, bytes)| {
                off_load(&folder, &format!("measured/{kind}_opencl.csv"), bytes)
            });
            assert!((100e-9..1e-2).contains(&launch) && (100e-9..1e-2).contains(&copies));
        } else {
            skipped("pocl");
        }
        let modes = column(&folder, "measured/context_switch.csv", "mode");
        assert!(modes.contains(&"futex".into()), "{modes:?}");
        assert!(!column(&folder, "measured/memory.csv", "accelerators").contains(&twice));
    }

    #[test]
    fn a_single_processor_has_no_worker_and_no_file_of_one() {
        let folder = Folder::new();
        let run = measured(&folder, 1);
        let why = "warning: offload.csv: a worker needs a processor beside that of its host, and there is one";
        assert!(run.code == Some(0) && run.stderr.contains(why), "{}", run.stderr);
        assert!(run.stderr.contains(": processors 1, cores 1; "), "{}", run.stderr);
        assert!(!folder.path("measured/offload.csv").exists());
        assert!(folder.path("measured/alpha.csv").exists());
    }

    #[test]
    fn an_emulated_machine_needs_no_time_to_settle() {
        Folder::new().refuses(
            &["bench", "--budget", "1s", "--out", "measured"],
            "--budget: found --machine qs20, expected --machine host; an emulated machine is measured \
             --repetitions times",
        );
    }

    /// What is said where this launcher is to start ranks, a moment's measurements each.
    fn with_launcher(folder: &Folder, launcher: &str) -> Run {
        let words =
            [&BENCH[..5], &["--repetitions", "1", "--out", "measured", "--mpirun"]].concat();
        let mut command = folder.command(&[&words[..], &[launcher]].concat());
        command.env("XDG_CACHE_HOME", folder.path("cache"));
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        Run::of(&mut command)
    }

    /// The mean time of a call of an operation among two ranks.
    fn time(folder: &Folder, operation: &str, bytes: &str) -> f64 {
        let of = |name: &str| column(folder, "measured/collective.csv", name);
        let (operations, ranks, sizes) = (of("operation"), of("ranks"), of("bytes"));
        let (times, calls) = (of("time_s"), of("calls"));
        let number = |text: &String| text.parse::<f64>().expect("a number");
        let is_of =
            |&at: &usize| operations[at] == operation && ranks[at] == "2" && sizes[at] == bytes;
        let all: Vec<f64> = (0..ranks.len())
            .filter(is_of)
            .map(|at| number(&times[at]) / number(&calls[at]))
            .collect();
        all.iter().sum::<f64>() / all.len() as f64
    }

    fn collectives_come_out(suffix: &str, name: &str) {
        let (mpirun, mpicc) = (format!("mpirun.{suffix}"), format!("mpicc.{suffix}"));
        let is_here = mmgp::native::is_executable(&mpirun) && mmgp::native::is_executable(&mpicc);
        if !is_here || mmgp::native::host::cores() < 2 {
            return skipped(&mpirun);
        }
        let folder = Folder::new();
        let run = with_launcher(&folder, &mpirun);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let said = format!(" ranks of {name}");
        assert!(run.stderr.contains("collective.csv is among up to "), "{}", run.stderr);
        let written = folder.read("measured/collective.csv");
        assert!(run.stderr.contains(&said) && written.contains(&said), "{}", run.stderr);
        // A microsecond or so where nothing else runs, and a copy of what takes some.
        let [barrier, small, large] =
            [("barrier", "0"), ("allreduce", "8"), ("allreduce", "65536")]
                .map(|(operation, bytes)| time(&folder, operation, bytes));
        assert!((20e-9..1.0).contains(&barrier) && (20e-9..1.0).contains(&small));
        assert!(large > 2.0 * small, "{large} {small}");
        assert!(time(&folder, "bcast", "1024") > 20e-9);
        let threads = column(&folder, "measured/collective_threads.csv", "operation");
        assert!(threads.contains(&"barrier".into()) && !threads.contains(&"bcast".into()));
        folder.write(
            "profile.csv",
            "phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,\
             apu_serial_time_s,gap_time_s\nmain,1,100,100,1,10,0.1,0.01\n",
        );
        folder.succeeds(&[
            "fit",
            "--profile",
            "profile.csv",
            "--apus",
            "2",
            "--out",
            "p.toml",
            "--collective",
            "measured/collective.csv",
            "--operation",
            "allreduce",
            "--operation-bytes",
            "8",
        ]);
        let left: Vec<String> = folder.files();
        assert!(!left.iter().any(|file| file.contains("programs")), "{left:?}");
    }

    #[test]
    fn collectives_of_open_mpi_are_measured_and_those_among_threads_stand_beside_them() {
        collectives_come_out("openmpi", "Open MPI");
    }

    #[test]
    fn collectives_of_mpich_are_measured_and_those_among_threads_stand_beside_them() {
        collectives_come_out("mpich", "MPICH");
    }

    #[test]
    fn a_launcher_that_fails_or_hangs_is_said_and_the_rest_is_written() {
        if !mmgp::native::is_executable("mpicc") || mmgp::native::host::cores() < 2 {
            return skipped("mpicc");
        }
        for (script, said) in [
            ("echo starting; echo no hosts today >&2; exit 3", "exit status 3: no hosts today"),
            ("echo waiting for hosts; sleep 60", "stopped after 10"),
            ("true", "started no rank of its MPI"),
        ] {
            let folder = Folder::with("launch", format!("#!/bin/sh\n{script}\n"));
            let launch = folder.path("launch");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&launch, mode).expect("it is ours");
            let run = with_launcher(&folder, &launch.to_string_lossy());
            assert_eq!(run.code, Some(0), "{}", run.stderr);
            let warning = "warning: collective.csv is among threads: ";
            let line = run.stderr.lines().find(|line| line.starts_with(warning));
            assert!(line.is_some_and(|line| line.contains(said)), "{}", run.stderr);
            assert!(column(&folder, "measured/collective.csv", "operation").len() > 3);
            assert!(!folder.path("measured/collective_threads.csv").exists());
        }
        Folder::new().refuses(
            &[&BENCH[..6], &["no such thing", "--out", "measured"]].concat(),
            "--mpirun: found \"no such thing\", expected a launcher of MPI that is here, with its \
             options but without -n: \"mpirun --oversubscribe\"; or none",
        );
    }

    /// An OpenCL of one device, on which a kernel takes 0.1 ms and each copy 0.2 ms and 1 us for a KiB.
    const OPENCL: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
typedef void *handle;
static int32_t rest(long microseconds) {
    struct timespec time = {0, 1000 * microseconds};
    return nanosleep(&time, NULL);
}
static int32_t named(const char *name, size_t size, char *at) { return strncpy(at, name, size) == NULL; }
int32_t clGetPlatformIDs(uint32_t room, handle *all, uint32_t *count) { all[0] = all; *count = room > 0; return 0; }
int32_t clGetPlatformInfo(handle of, uint32_t what, size_t size, void *at, size_t *length) {
    return (void) of, (void) length, what == 0x0902 ? named("A stub", size, at) : -30;
}
int32_t clGetDeviceIDs(handle of, uint64_t type, uint32_t room, handle *all, uint32_t *count) {
    (void) of, (void) room;
    all[0] = all;
    *count = 1;
    return type & 4 ? 0 : -1;
}
int32_t clGetDeviceInfo(handle of, uint32_t what, size_t size, void *at, size_t *length) {
    return (void) of, (void) length, what == 0x102B ? named("slow device", size, at) : -30;
}
#define MADE(name, ...) handle name(__VA_ARGS__, int32_t *error) { static char it; *error = FAILS; return &it; }
MADE(clCreateContext, const intptr_t *a, uint32_t b, const handle *c, void (*d)(void), void *e)
MADE(clCreateCommandQueue, handle a, handle b, uint64_t c)
MADE(clCreateBuffer, handle a, uint64_t b, size_t c, void *d)
MADE(clCreateProgramWithSource, handle a, uint32_t b, const char **c, const size_t *d)
MADE(clCreateKernel, handle a, const char *b)
int32_t clBuildProgram(handle a, uint32_t b, const handle *c, const char *d, void (*e)(void), void *f) {
    return (void) a, (void) b, (void) c, (void) d, (void) e, (void) f, 0;
}
int32_t clSetKernelArg(handle a, uint32_t b, size_t c, const void *d) { return (void) a, (void) b, (void) c, d == NULL; }
#define COPY(name) int32_t name(handle a, handle b, uint32_t c, size_t d, size_t size, void *f, uint32_t g, \
    const handle *h, handle *i) { \
    (void) a, (void) b, (void) c, (void) d, (void) f, (void) g, (void) h, (void) i; \
    return rest(200 + (long) size / 1024); }
COPY(clEnqueueWriteBuffer)
COPY(clEnqueueReadBuffer)
int32_t clEnqueueNDRangeKernel(handle a, handle b, uint32_t c, const size_t *d, const size_t *e, const size_t *f,
                               uint32_t g, const handle *h, handle *i) {
    return (void) a, (void) b, (void) c, (void) d, (void) e, (void) f, (void) g, (void) h, (void) i, rest(100);
}
int32_t clFinish(handle a) { return (void) a, 0; }
"#;

    /// Measures with an OpenCL that is compiled with these flags in the place of what is here; `None` without a compiler.
    fn with_a_stub(source: &str, flags: &[&str]) -> Option<(Folder, Run)> {
        let folder = Folder::with("stub.c", source);
        let mut stub = Command::new("gcc");
        stub.args(["-shared", "-fPIC", "stub.c", "-o", "libOpenCL.so.1"]).args(flags);
        if !stub.current_dir(folder.path("")).status().is_ok_and(|it| it.success()) {
            skipped("gcc");
            return None;
        }
        let mut command = folder.command(&BENCH);
        command.env("XDG_CACHE_HOME", folder.path("cache"));
        command.env("LD_LIBRARY_PATH", folder.path(""));
        let run = Run::of(&mut command);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        Some((folder, run))
    }

    /// The least time of an off-load of so many bytes \[s\].
    fn off_load(folder: &Folder, file: &str, bytes: &str) -> f64 {
        let of = |name: &str| column(folder, file, name);
        let (sizes, trips, times) = (of("bytes"), of("round_trips"), of("time_s"));
        let number = |text: &String| text.parse::<f64>().expect("a number");
        let is_of = |at: &usize| sizes[*at] == bytes;
        let time = |at: usize| number(&times[at]) / number(&trips[at]);
        (0..sizes.len()).filter(is_of).map(time).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn off_loads_to_a_device_of_opencl_are_as_long_as_its_kernels_and_copies() {
        let Some((folder, run)) = with_a_stub(OPENCL, &["-DFAILS=0"]) else { return };
        let said = "launch_opencl.csv is empty kernels of slow device (A stub)\n";
        assert!(run.stderr.contains(said), "{}", run.stderr);
        let launch = off_load(&folder, "measured/launch_opencl.csv", "0");
        assert!((100e-6..400e-6).contains(&launch), "{launch}");
        let [small, large] =
            ["8", "65536"].map(|it| off_load(&folder, "measured/offload_opencl.csv", it));
        assert!((500e-6..1200e-6).contains(&small), "{small}");
        // What 128 KiB more take.
        assert!((small + 60e-6..small + 500e-6).contains(&large), "{small} {large}");
        let rows = column(&folder, "measured/offload_opencl.csv", "bytes");
        assert!(!rows.contains(&"0".into()) && rows.len() >= 7 * 30);
        let profile = "phase,repetition,offloads,collectives,hpu_time_s,apu_parallel_time_s,\
             apu_serial_time_s,gap_time_s\nmain,1,100,100,1,10,0.1,0.01\n";
        folder.write("profile.csv", profile);
        let fit =
            ["fit", "--profile", "profile.csv", "--apus", "2", "--out", "p.toml", "--offload"];
        folder.succeeds(&[&fit[..], &["measured/launch_opencl.csv"]].concat());
        folder.succeeds(&[&fit[..], &["measured/offload_opencl.csv"]].concat());
    }

    #[test]
    fn a_device_of_opencl_that_fails_and_an_opencl_without_devices_are_said() {
        let Some((folder, run)) = with_a_stub(OPENCL, &["-DFAILS=-6"]) else { return };
        let said = "warning: without offload_opencl.csv: OpenCL: exit status 1: clCreateContext: error -6 of OpenCL";
        assert!(run.stderr.contains(said), "{}", run.stderr);
        assert!(!folder.path("measured/offload_opencl.csv").exists());
        assert!(folder.path("measured/offload.csv").exists() || mmgp::native::host::cores() < 2);
        let none = OPENCL.replace("*count = 1;", "*count = 0;");
        let Some((_, run)) = with_a_stub(&none, &["-DFAILS=0"]) else { return };
        let said = "without offload_opencl.csv: OpenCL has no device here\n";
        assert!(
            run.stderr.contains(said) && !run.stderr.contains("warning: without"),
            "{}",
            run.stderr
        );
    }
}
