//! The library that is loaded into a program: its source, and its compilation.

use std::env;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mmgp_base::error::{Error, Result};
use mmgp_base::table;

/// Its files; the first is what the others include.
const SOURCES: [(&str, &str); 7] = [
    ("probe.h", include_str!("c/probe.h")),
    ("core.c", include_str!("c/core.c")),
    ("team.c", include_str!("c/team.c")),
    ("gomp.c", include_str!("c/gomp.c")),
    ("ompt.c", include_str!("c/ompt.c")),
    ("cuda.c", include_str!("c/cuda.c")),
    ("mpi.c", include_str!("c/mpi.c")),
];

const FLAGS: [&str; 4] = ["-O2", "-std=gnu11", "-fPIC", "-DMMGP_PROBE"];

/// Programs that start the ranks of others.
const LAUNCHERS: [&str; 7] = ["mpirun", "mpiexec", "orterun", "prterun", "srun", "jsrun", "aprun"];

/// A program of MPI that does nothing, among whose ranks the library times collectives.
const RANKS: &str = include_str!("c/ranks.c");

/// The library, compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// Its file.
    pub file: PathBuf,
    /// Whether it knows an MPI.
    pub has_mpi: bool,
    /// The compiler that it was made by.
    compiler: PathBuf,
}

impl Library {
    /// The library for a command: of the MPI whose compiler is named, or belongs to the launcher that the command
    /// begins with, or is simply there; without any, one that knows OpenMP alone. It is compiled where the user's
    /// cache has none of the same source, compiler and MPI.
    ///
    /// # Errors
    /// [`Error::Program`] where there is no compiler, or none of an MPI for a command that has a launcher, with what
    /// to install; where a compiler refuses.
    pub fn for_command(argv: &[String], mpicc: Option<&str>) -> Result<Self> {
        let launcher = argv.iter().map(Path::new).find(|word| is_launcher(word));
        let wanted = mpicc.map(PathBuf::from).or_else(|| launcher.and_then(compiler_of));
        let compiler = wanted.or_else(|| found("mpicc"));
        match (compiler, launcher) {
            (Some(mpicc), _) => Self::compiled(&mpicc, true),
            (None, Some(launcher)) => Err(missing(
                &format!("{}'s compiler, mpicc", launcher.display()),
                "load the module of your MPI, or install libopenmpi-dev or libmpich-dev (Debian), openmpi-devel \
                 (Fedora); one elsewhere is named by --mpicc PATH",
            )),
            (None, None) => Self::compiled(&c_compiler()?, false),
        }
    }

    fn compiled(compiler: &Path, has_mpi: bool) -> Result<Self> {
        let cupti = cupti();
        let name = ("probe", ".so");
        let file = cached(name, (compiler, has_mpi), &(SOURCES, FLAGS, &cupti), |work| {
            build(compiler, (has_mpi, &cupti), work)
        })?;
        Ok(Self { file, has_mpi, compiler: compiler.into() })
    }

    /// The file of a program of the library's MPI that does nothing, for [`ranks`](crate::ranks).
    ///
    /// # Errors
    /// [`Error::Program`] where the library knows no MPI, or the compiler refuses.
    pub fn ranks(&self) -> Result<PathBuf> {
        if !self.has_mpi {
            return Err(missing("mpicc", "name the compiler of your MPI by --mpicc PATH"));
        }
        program("ranks", RANKS, (&self.compiler, true), &[])
    }
}

/// The file of a program in C, compiled where the user's cache has none of the same source, compiler and MPI.
pub(crate) fn program(
    name: &str,
    source: &str,
    (compiler, has_mpi): (&Path, bool),
    libraries: &[&str],
) -> Result<PathBuf> {
    cached((name, ""), (compiler, has_mpi), &(source, libraries), |work| {
        let (text, file) = (work.join(name).with_extension("c"), work.join(name));
        table::write(&text, source)?;
        let mut command = Command::new(compiler);
        command.args(["-O2", "-std=gnu11"]).arg(&text).arg("-o").arg(&file).args(libraries);
        succeeds(&mut command, compiler)?;
        Ok(file)
    })
}

/// A file that a compiler makes, in a folder of its own, of the sources whose hash is in its name; made where it is
/// not in the user's cache.
fn cached(
    (name, end): (&str, &str),
    (compiler, has_mpi): (&Path, bool),
    sources: &impl Hash,
    make: impl FnOnce(&Path) -> Result<PathBuf>,
) -> Result<PathBuf> {
    // What the wrapper adds, and of which version the compiler is, are what a build depends on.
    let of_mpi = if has_mpi { output(compiler, &["-show"]) } else { String::new() };
    let version = output(compiler, &["--version"]);
    let mut key = DefaultHasher::new();
    (sources, compiler, of_mpi, version).hash(&mut key);
    let folder = cache().join("mmgp");
    let file = folder.join(format!("{name}-{:016x}{end}", key.finish()));
    if !file.exists() {
        let work = folder.join(format!("build-{}", std::process::id()));
        table::create_folder(&work)?;
        let made = make(&work).and_then(|made| table::replace(&made, &file));
        table::remove_folder(&work)?;
        made?;
    }
    Ok(file)
}

/// Compiles in a folder; the library's file there.
fn build(compiler: &Path, (has_mpi, cupti): (bool, &[String]), work: &Path) -> Result<PathBuf> {
    for (name, text) in SOURCES {
        table::write(&work.join(name), text)?;
    }
    let mut objects = Vec::new();
    for (name, _) in &SOURCES[1..] {
        let object = work.join(name).with_extension("o");
        let mut command = Command::new(compiler);
        command.args(FLAGS).args(has_mpi.then_some("-DMMGP_MPI")).args(cupti);
        command.arg("-c").arg(work.join(name)).arg("-o").arg(&object);
        succeeds(&mut command, compiler)?;
        objects.push(object);
    }
    // Not by the wrapper: the library is loaded into programs without MPI as well, launchers and shells.
    let linker = c_compiler()?;
    let library = work.join("probe.so");
    let mut command = Command::new(&linker);
    command.arg("-shared").args(objects).arg("-o").arg(&library).args(["-ldl", "-lm", "-lpthread"]);
    succeeds(&mut command, &linker)?;
    Ok(library)
}

fn succeeds(command: &mut Command, compiler: &Path) -> Result<()> {
    let failed =
        |why: String| Error::Program { program: compiler.to_string_lossy().into_owned(), why };
    let Output { status, stderr, .. } =
        command.output().map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&stderr);
    let first = said.lines().find(|line| line.contains("error")).or_else(|| said.lines().next());
    Err(failed(format!("cannot compile what mmgp carries: {}", first.unwrap_or("it says nothing"))))
}

/// What a compiler says; nothing where it does not.
fn output(compiler: &Path, arguments: &[&str]) -> String {
    let said = Command::new(compiler).args(arguments).output();
    said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()).unwrap_or_default()
}

pub(crate) fn c_compiler() -> Result<PathBuf> {
    let named = env::var_os("CC").filter(|name| !name.is_empty()).map(PathBuf::from);
    let compiler = named.or_else(|| ["cc", "gcc", "clang"].into_iter().find_map(found));
    compiler.ok_or_else(|| missing("a C compiler", "install gcc or clang, or name one by CC"))
}

/// Flags for the CUPTI of a CUDA that is here; none where there is none.
fn cupti() -> Vec<String> {
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    let of_nvcc = found("nvcc").and_then(|nvcc| Some(nvcc.parent()?.parent()?.to_path_buf()));
    let homes = homes.chain(of_nvcc).chain([PathBuf::from("/usr/local/cuda")]);
    let places = |home: PathBuf| {
        let own = home.join("extras/CUPTI");
        let of = |at: &Path| (at.join("include"), at.join("lib64"), home.clone());
        [of(&own), of(&home)]
    };
    let found = homes.flat_map(places).find(|(headers, _, _)| headers.join("cupti.h").is_file());
    let Some((headers, library, home)) = found else { return Vec::new() };
    let library = library.join("libcupti.so");
    let library = if library.is_file() { library } else { PathBuf::from("libcupti.so") };
    vec![
        format!("-I{}", headers.display()),
        format!("-I{}", home.join("include").display()),
        format!("-DMMGP_CUPTI=\"{}\"", library.display()),
    ]
}

fn missing(what: &str, how: &str) -> Error {
    Error::Program { program: what.into(), why: format!("is not here: {how}") }
}

fn is_launcher(word: &Path) -> bool {
    let name = word.file_name().unwrap_or_default().to_string_lossy();
    LAUNCHERS.contains(&name.split('.').next().unwrap_or_default())
}

/// The compiler beside a launcher, of the same MPI: `mpicc.mpich` of `mpirun.mpich`.
fn compiler_of(launcher: &Path) -> Option<PathBuf> {
    let path = if launcher.components().count() > 1 {
        launcher.to_path_buf()
    } else {
        found(launcher.to_str()?)?
    };
    let name = path.file_name()?.to_string_lossy().into_owned();
    let suffix = name.split_once('.').map(|(_, suffix)| format!(".{suffix}")).unwrap_or_default();
    let compiler = path.with_file_name(format!("mpicc{suffix}"));
    compiler.exists().then_some(compiler)
}

/// A program in one of the folders of PATH.
fn found(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The user's folder for what can be made again.
fn cache() -> PathBuf {
    let set = |name| env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let home = || set("HOME").map(|home| PathBuf::from(home).join(".cache"));
    set("XDG_CACHE_HOME").map(PathBuf::from).or_else(home).unwrap_or_else(env::temp_dir)
}
