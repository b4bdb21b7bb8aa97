//! Names of the regions, from the symbols of the files in which their code is.

use std::collections::BTreeMap;
use std::path::Path;

use mmgp_base::table;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSegment as _, ObjectSymbol as _};

use crate::process::{Process, Region};

/// The symbols of a file, by address; none where it has no names left.
struct Symbols(BTreeMap<u64, (u64, String)>);

impl Symbols {
    fn of(file: &str) -> Self {
        let Ok(bytes) = table::bytes(Path::new(file)) else { return Self(BTreeMap::new()) };
        let Ok(object) = ElfFile64::<Endianness>::parse(&*bytes) else {
            return Self(BTreeMap::new());
        };
        // Addresses are told from where the file is loaded.
        let base = object.segments().map(|it| it.address()).min().unwrap_or(0);
        let symbols = object.symbols().chain(object.dynamic_symbols());
        let functions = symbols.filter(|it| it.kind() == object::SymbolKind::Text && it.size() > 0);
        let entry = |it: object::read::elf::ElfSymbol64<'_, '_>| {
            let name = it.name().unwrap_or_default().to_string();
            (it.address() - base, (it.size(), name))
        };
        Self(functions.filter(|it| it.address() >= base).map(entry).collect())
    }

    fn at(&self, address: u64) -> Option<&str> {
        let (begin, (size, name)) = self.0.range(..=address).next_back()?;
        (address < begin + size).then_some(name)
    }
}

/// The names of regions, by file and address.
pub(crate) struct Names(BTreeMap<(String, u64), String>);

impl Names {
    /// The name of a region of these processes.
    pub(crate) fn of(&self, region: &Region) -> &String {
        let (file, address, _) = &region.code;
        &self.0[&(file.clone(), *address)]
    }
}

/// The names of the regions of all processes: the function in which each stands, with a number where that has several.
pub(crate) fn names(processes: &[Process]) -> Names {
    let regions = processes.iter().flat_map(|it| &it.regions);
    let mut codes: Vec<(String, u64, String)> = regions.map(|it| it.code.clone()).collect();
    codes.sort();
    codes.dedup();
    let mut files: BTreeMap<String, Symbols> = BTreeMap::new();
    let mut named: Vec<((String, u64), String)> = Vec::new();
    for (file, address, known) in codes {
        let symbols = files.entry(file.clone()).or_insert_with(|| Symbols::of(&file));
        let name = symbols.at(address).map_or(known, String::from);
        let name = match &*name {
            "" => format!("{}+{address:#x}", file.rsplit('/').next().unwrap_or(&file)),
            name => readable(name),
        };
        named.push(((file, address), name));
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, name) in &named {
        *counts.entry(name.clone()).or_default() += 1;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let numbered = |(code, name): ((String, u64), String)| {
        let number = seen.entry(name.clone()).or_default();
        *number += 1;
        let name = if counts[&name] > 1 { format!("{name} {number}") } else { name };
        (code, name)
    };
    Names(named.into_iter().map(numbered).collect())
}

/// The function in which a compiler found a region: GCC's `f._omp_fn.0`, and names of C++ as they were written,
/// without arguments.
pub(crate) fn readable(symbol: &str) -> String {
    let outlined = ["._omp_fn.", ".omp_outlined", "_omp_fn"];
    let end = outlined.iter().filter_map(|part| symbol.find(part)).min().unwrap_or(symbol.len());
    let symbol = symbol[..end].trim_end_matches('.');
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let demangled =
        cpp_demangle::Symbol::new(symbol).ok().and_then(|it| it.demangle(&options).ok());
    demangled.unwrap_or_else(|| symbol.to_string())
}
