//! No program that comes with mmgp has a hazard, under whatever scheduler. None has one to be found by,
//! so that they are found is for `crates/emulator/runtime/tests/hazards.rs`.

use super::Folder;

/// Runs a program under every scheduler in all its variants.
fn has_none(program: &[&str]) {
    has_none_in(&Folder::new(), program);
}

fn has_none_in(folder: &Folder, program: &[&str]) {
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
    let folder = Folder::new();
    folder.succeeds(&["simulate-alignment", "--taxa=6", "--sites=100", "--out=small.phy"]);
    let searches = ["--bootstraps=1", "--inferences=0", "--model=cat"];
    let program = ["--app=raxml", "--m=2", "--p=3", "--input=small.phy"];
    has_none_in(&folder, &[&program, &searches[..]].concat());
}

#[test]
fn of_list_ranking() {
    let program = ["--app=list-ranking", "--p=4", "--nodes=2000"];
    has_none(&program);
    // A thread on each DMA list, whose elements are written in pairs.
    has_none(&[&program[..], &["--sublists=8", "--buffers=8"]].concat());
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
