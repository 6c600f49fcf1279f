//! Files that other processes can use again.
//!
//! A file holds the SHA-256 of its content before the content. Files appear by renaming, so that readers see whole ones; damaged ones
//! are as good as none. What was not used for longest goes when there is too much.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

/// Bytes of a SHA-256.
const DIGEST: usize = 32;
/// Bytes of the files of one sort.
const LIMIT: u64 = 512 << 20;
/// Of so many files that a process writes, the first looks whether there are too many.
const BETWEEN_LOOKS: u64 = 64;

/// A folder of files by name, in which nobody else may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stock {
    folder: PathBuf,
}

/// The SHA-256 of some bytes in hexadecimal digits, as a name for what depends on them.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

impl Stock {
    /// The files of one sort in a cache folder; neither need exist.
    pub fn new(cache: &str, sort: &str) -> Stock {
        Stock { folder: Path::new(cache).join(sort) }
    }

    /// The content of a file.
    ///
    /// # Errors
    /// It does not exist, is damaged, or others may have written it.
    pub fn load(&self, name: &str) -> Result<Vec<u8>> {
        check_private(&self.folder)?;
        let file = self.folder.join(name);
        let bytes = fs::read(&file)?;
        // A folder that cannot be written still serves; its files look unused.
        let _ = fs::File::open(&file).and_then(|f| f.set_modified(SystemTime::now()));
        match bytes.split_at_checked(DIGEST) {
            Some((digest, content)) if Sha256::digest(content)[..] == *digest => Ok(content.to_vec()),
            _ => Err(Error::from(ErrorKind::InvalidData)),
        }
    }

    /// Writes a file, in place of an older one.
    ///
    /// # Errors
    /// The folder cannot be written, or others may write in it.
    pub fn store(&self, name: &str, content: &[u8]) -> Result<()> {
        let mut bytes = Sha256::digest(content).to_vec();
        bytes.extend(content);
        create_private(&self.folder)?;
        check_private(&self.folder)?;
        let file = self.folder.join(name);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        if number.is_multiple_of(BETWEEN_LOOKS) {
            self.make_room(LIMIT)?;
        }
        let part = file.with_extension(format!("{}-{number}", std::process::id()));
        let written = fs::write(&part, bytes).and_then(|()| fs::rename(&part, &file));
        if written.is_err() {
            // What is left of it is of no use to anybody; the first error is the one to tell.
            let _ = fs::remove_file(&part);
        }
        written
    }

    /// Number and bytes of the files.
    ///
    /// # Errors
    /// The folder cannot be read, or others may write in it.
    pub fn size(&self) -> Result<(usize, u64)> {
        match check_private(&self.folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok((0, 0)),
            checked => checked?,
        }
        let sizes: Vec<u64> = self.files()?.into_iter().map(|(_, bytes, _)| bytes).collect();
        Ok((sizes.len(), sizes.iter().sum()))
    }

    /// When each file was last used, its bytes and its path; what another process has removed by now is left out.
    fn files(&self) -> Result<Vec<(SystemTime, u64, PathBuf)>> {
        let entries = fs::read_dir(&self.folder)?.collect::<Result<Vec<_>>>()?;
        let file = |e: fs::DirEntry| e.metadata().and_then(|m| Ok((m.modified()?, m.len(), e.path()))).ok();
        Ok(entries.into_iter().filter_map(file).collect())
    }

    /// Removes what was not used for longest until three quarters of the limit are left, if there is more than that limit.
    fn make_room(&self, limit: u64) -> Result<()> {
        let mut files = self.files()?;
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        if total <= limit {
            return Ok(());
        }
        files.sort();
        for (_, bytes, path) in files {
            if total <= limit / 4 * 3 {
                break;
            }
            match fs::remove_file(path) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
                _ => total -= bytes,
            }
        }
        Ok(())
    }
}

/// Number of files that this process wrote or began to.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
fn create_private(folder: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_private(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
}

/// Refuses a folder in which another user could have put files.
#[cfg(unix)]
fn check_private(folder: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = fs::metadata(folder)?;
    let writable_by_others = meta.mode() & 0o022 != 0;
    if writable_by_others || meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(Error::new(
            ErrorKind::PermissionDenied,
            "another user may write here; run `chmod 700`, or set FUSELINE_CACHE",
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_private(_: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_unless_they_are_damaged() {
        let cache = std::env::temp_dir().join(format!("fuseline-stock-{}", std::process::id()));
        let stock = Stock::new(&cache.to_string_lossy(), "things");
        assert_eq!(stock.size().unwrap(), (0, 0));
        assert!(stock.load("a").is_err());
        stock.store("a", b"content").unwrap();
        stock.store("a", b"other").unwrap();
        assert_eq!(stock.load("a").unwrap(), b"other");
        assert_eq!(stock.size().unwrap(), (1, 5 + DIGEST as u64));
        fs::write(cache.join("things/a"), "damaged").unwrap();
        assert!(stock.load("a").is_err());
        fs::remove_dir_all(cache).unwrap();
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let cache = std::env::temp_dir().join(format!("fuseline-stock-full-{}", std::process::id()));
        let stock = Stock::new(&cache.to_string_lossy(), "things");
        for (age, name) in ["d", "c", "b", "a"].into_iter().enumerate() {
            stock.store(name, &[0; 68]).unwrap();
            let file = fs::File::open(cache.join("things").join(name)).unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(100 * (age as u64 + 1))).unwrap();
        }
        stock.make_room(400).unwrap();
        assert_eq!(stock.size().unwrap(), (4, 400), "no more than the limit");
        stock.load("a").unwrap();
        stock.make_room(399).unwrap();
        assert!(stock.load("a").is_ok() && stock.load("d").is_ok(), "used last");
        assert!(stock.load("b").is_err() && stock.load("c").is_err());
        fs::remove_dir_all(cache).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn folders_of_others_are_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let cache = std::env::temp_dir().join(format!("fuseline-stock-open-{}", std::process::id()));
        fs::create_dir_all(cache.join("things")).unwrap();
        fs::set_permissions(cache.join("things"), fs::Permissions::from_mode(0o777)).unwrap();
        let stock = Stock::new(&cache.to_string_lossy(), "things");
        assert!(stock.store("a", b"content").is_err() && stock.load("a").is_err());
        fs::remove_dir_all(cache).unwrap();
    }
}
