//! Which file a path means, however it is spelt.

use std::fs;
use std::path::{Path, PathBuf};

/// Links to nothing that are followed from one to the next; as many as Linux follows.
const MOST_LINKS: usize = 40;

/// The absolute path, free of links, of the file that `path` means, whether it exists or is about
/// to; two paths mean one file where their places are equal. `None` of a device or a pipe, which
/// keeps nothing that could be overwritten.
pub fn place(path: &Path) -> Option<PathBuf> {
    match fs::metadata(path) {
        Ok(it) if !it.is_file() && !it.is_dir() => None,
        _ => Some(place_after(path, MOST_LINKS)),
    }
}

fn place_after(path: &Path, links: usize) -> PathBuf {
    if let Ok(place) = fs::canonicalize(path) {
        return place;
    }
    // A folder that does not exist yet has no links in it.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let (Some(folder), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return absolute;
    };
    match fs::read_link(path) {
        Ok(target) if links > 0 => place_after(&folder.join(target), links - 1),
        _ => place_after(folder, links).join(name),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_path_has_one_place() {
        use std::os::unix::fs::symlink;
        let folder = std::env::temp_dir().join(format!("mmgp-place-{}", std::process::id()));
        fs::create_dir_all(folder.join("in")).expect("a folder");
        fs::write(folder.join("file"), "").expect("a file");
        symlink("file", folder.join("link")).expect("a link");
        symlink("in", folder.join("linked")).expect("a link");
        symlink("../new", folder.join("in/dangling")).expect("a link");
        symlink("loop", folder.join("loop")).expect("a link");
        let of = |path: &str| place(&folder.join(path)).expect("it is no device");
        for same in ["./file", "in/../file", "link", "linked/../link"] {
            assert_eq!(of(same), of("file"), "{same}");
        }
        for same in ["./new", "in/dangling", "linked/dangling"] {
            assert_eq!(of(same), of("new"), "{same}");
        }
        assert_eq!(of("linked/none/a"), of("in/none/a"));
        assert_ne!(of("in/file"), of("file"));
        assert_ne!(of("loop"), of("file"));
        assert_eq!(place(Path::new("/dev/null")), None);
        fs::remove_dir_all(&folder).expect("it is removed");
    }
}
