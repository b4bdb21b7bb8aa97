//! No program that comes with mmgp has a hazard, under whatever scheduler.

use super::Folder;

/// Runs a program under every scheduler in all its variants.
fn has_none(program: &[&str]) {
    let folder = Folder::new();
    for policy in mmgp::schedulers::policies() {
        let variants = policy.variants().into_iter().map(|it| it.replace('N', "2"));
        let variants = variants.map(|it| format!("{}:{it}", policy.name()));
        for scheduler in variants.chain([policy.name().to_string()]) {
            let flags = ["emulate", "--quiet", "--check-hazards", "--scheduler", &scheduler];
            folder.succeeds(&[&flags, program].concat());
        }
    }
}

#[test]
fn of_pbpi() {
    has_none(&["--app=pbpi", "--m=2", "--p=3", "--input=sim12", "--generations=3"]);
}

#[test]
fn of_raxml() {
    let searches = ["--bootstraps=1", "--inferences=0", "--model=cat"];
    has_none(&[&["--app=raxml", "--m=2", "--p=3", "--input=sim12"], &searches[..]].concat());
}

#[test]
fn of_list_ranking() {
    has_none(&["--app=list-ranking", "--p=4", "--nodes=2000"]);
}

#[test]
fn of_sweep3d() {
    let problem = ["--app=sweep3d", "--cells=6", "--mk=3", "--epsi=-1"];
    has_none(&problem);
    has_none(&[&problem[..], &["--programming=accelerator"]].concat());
}

#[test]
fn of_sgemm() {
    has_none(&["--app=sgemm", "--p=4", "--size=128"]);
}

#[test]
fn of_off_loads_of_given_times() {
    has_none(&["--app=synthetic", "--m=4", "--p=2", "--offloads=50", "--shared=0.8"]);
}

#[test]
fn a_hazard_is_named_with_its_own_instants_whether_off_loads_are_computed_first_or_not() {
    let folder = Folder::new();
    // Its local store is read before it was written, which --check-unwritten takes for a hazard.
    let program = ["--app=raxml", "--p=3", "--input=sim12", "--bootstraps=1", "--inferences=0"];
    let flags = ["emulate", "--quiet", "--check-hazards", "--check-unwritten"];
    let plain = folder.mmgp(&[&flags[..], &program].concat());
    // What is traced takes its time step by step.
    let traced = folder.mmgp(&[&flags[..], &program, &["--trace=run.json"]].concat());
    assert_eq!((plain.code, traced.code), (Some(2), Some(2)));
    assert!(plain.stderr.contains("nobody has written it before"), "{}", plain.stderr);
    assert_eq!(plain.stderr, traced.stderr);
    assert_eq!(folder.files(), [""; 0]);
}
