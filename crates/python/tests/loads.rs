//! The Python at hand loads the extension module; what it does is asked for in `tests/*.py`.

#![allow(clippy::disallowed_methods)] // A folder of the test.

use std::process::Command;

#[test]
fn python_loads_the_module() {
    let program = std::env::current_exe().expect("a test is a program");
    let built = program.parent().expect("it is in a folder").join("lib_mbyp.so");
    let folder = std::env::temp_dir().join(format!("mbyp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder is made");
    std::fs::copy(&built, folder.join("_mbyp.abi3.so")).expect("the module is built");
    let ask = "import _mbyp; print(_mbyp.load('pbpi-qs20', False).apus)";
    let run = Command::new("python3").args(["-c", ask]).env("PYTHONPATH", &folder).output();
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
    let Ok(run) = run else { return testing::skipped("python3") };
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(String::from_utf8_lossy(&run.stdout).trim(), "16", "{said}");
}
