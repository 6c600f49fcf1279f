//! The libraries of CUDA: found by absolute path, of one major version, loaded once per process.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::{CudaConfig, Error, Result};
use libloading::Library;

use super::blas::Blas;
use super::driver::Driver;
use super::nvrtc::Nvrtc;
use super::places::{Place, places, starting};

/// Major versions that are served, newest first.
const MAJORS: [u32; 2] = [13, 12];
/// The driver's file, and where it may be besides in the system's folders.
const DRIVER: &str = "libcuda.so.1";
const DRIVER_FOLDERS: [&str; 3] = ["/usr/local/nvidia/lib64", "/usr/lib/wsl/lib", "/run/opengl-driver/lib"];

/// One library, as it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibraryInfo {
    /// What it is: `cuda` (the driver), `nvrtc` or `cublasLt`.
    pub name: &'static str,
    /// Its file, if it was loaded; a bare name was left to the system.
    pub path: Option<PathBuf>,
    /// Its version.
    pub version: Option<String>,
    /// Where it was looked for in vain, or why it could not be loaded.
    pub tried: Vec<String>,
}

/// The loaded libraries.
pub(crate) struct Libraries {
    pub(crate) driver: Driver,
    pub(crate) nvrtc: Nvrtc,
    pub(crate) blas: Option<Blas>,
    pub(crate) found: Vec<LibraryInfo>,
    /// Time that finding and loading them took.
    pub(crate) time: Duration,
}

/// The libraries of this process, loaded by the first call that finds them.
///
/// # Errors
/// `Unsupported`, with what was looked for and what installs it.
pub(crate) fn libraries(config: &CudaConfig) -> Result<Arc<Libraries>> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(libraries) = &*loaded {
        return Ok(libraries.clone());
    }
    let start = Instant::now();
    match Attempt::new(&places(config)) {
        Attempt { driver: Some(driver), nvrtc: Some(nvrtc), blas, found } => {
            let libraries = Libraries { driver, nvrtc, blas, found, time: start.elapsed() };
            Ok(loaded.insert(Arc::new(libraries)).clone())
        }
        attempt => Err(attempt.missing()),
    }
}

/// The libraries as this process loaded them, or as they would be found now, without opening a GPU.
pub(super) fn describe(config: &CudaConfig) -> Vec<LibraryInfo> {
    match libraries(config) {
        Ok(libraries) => libraries.found.clone(),
        Err(_) => Attempt::new(&places(config)).found,
    }
}

static LOADED: Mutex<Option<Arc<Libraries>>> = Mutex::new(None);

/// What could be loaded.
pub(super) struct Attempt {
    driver: Option<Driver>,
    pub(super) nvrtc: Option<Nvrtc>,
    blas: Option<Blas>,
    /// The driver, the compiler, the products.
    pub(super) found: Vec<LibraryInfo>,
}

impl Attempt {
    pub(super) fn new(places: &[Place]) -> Attempt {
        let (driver, mut about_driver) = load(driver_files(places), "cuda", Driver::load);
        let version = driver.as_ref().map(Driver::version);
        about_driver.version = version.map(|(major, minor)| format!("{major}.{minor}"));
        let majors: Vec<u32> = MAJORS.into_iter().filter(|&m| version.is_none_or(|(most, _)| m <= most)).collect();
        let majors = choose(places, &majors).map_or(majors, |major| vec![major]);
        let files = |name: &str| library_files(places, name, &majors);
        let (nvrtc, mut about_nvrtc) = load(files("libnvrtc.so"), "nvrtc", Nvrtc::load);
        about_nvrtc.version = nvrtc.as_ref().map(|n| n.number()).map(|(major, minor)| format!("{major}.{minor}"));
        let (blas, mut about_blas) = load(files("libcublasLt.so"), "cublasLt", Blas::load);
        about_blas.version = blas.as_ref().map(|b| b.number()).map(|(a, b, c)| format!("{a}.{b}.{c}"));
        Attempt { driver, nvrtc, blas, found: vec![about_driver, about_nvrtc, about_blas] }
    }

    /// The error for a machine without a driver or a compiler.
    fn missing(&self) -> Error {
        let missing = self.found[..2].iter().filter(|l| l.path.is_none());
        let parts: Vec<String> = missing.map(|l| format!("{} was not found; tried {}", l.name, l.tried.join(", "))).collect();
        let newest = self.driver.as_ref().map_or(MAJORS[0], |d| d.version().0);
        let wheels =
            if newest >= MAJORS[0] { "nvidia-cuda-nvrtc nvidia-cublas" } else { "nvidia-cuda-nvrtc-cu12 nvidia-cublas-cu12" };
        let mut advice = Vec::new();
        if self.driver.is_none() {
            advice.push("install NVIDIA's driver (580 or newer, or 525 and newer for CUDA 12)".to_owned());
        }
        if self.nvrtc.is_none() {
            advice.push(format!(
                "run `pip install {wheels}` in the active environment, or set FUSELINE_CUDA_PATH to a folder with the libraries"
            ));
        }
        Error::unsupported(format!("no GPU can be used: {}; {}", parts.join("; "), advice.join("; ")))
    }
}

/// The major version to use: of the first place with a compiler, if products of that version exist somewhere; else that of the first.
fn choose(places: &[Place], majors: &[u32]) -> Option<u32> {
    let compilers = places.iter().flat_map(|p| majors.iter().copied().filter(|m| p.file(&format!("libnvrtc.so.{m}")).is_some()));
    let candidates: Vec<u32> = compilers.collect();
    let whole = |m: &&u32| places.iter().any(|p| p.file(&format!("libcublasLt.so.{m}")).is_some());
    candidates.iter().find(whole).or(candidates.first()).copied()
}

/// Files of a library to try in order: those that exist, then the name, for the system to find.
fn library_files(places: &[Place], name: &str, majors: &[u32]) -> Vec<Candidate> {
    let files = |m: &u32| {
        let file = format!("{name}.{m}");
        let mut all: Vec<Candidate> = places
            .iter()
            .map(|p| p.file(&file).map_or_else(|| Candidate::Absent(format!("{file} in {}", p.name)), Candidate::File))
            .collect();
        all.push(Candidate::File(file.into()));
        all
    };
    majors.iter().flat_map(files).collect()
}

/// Files of the driver to try in order.
fn driver_files(places: &[Place]) -> Vec<Candidate> {
    let explicit = places.iter().filter(|p| p.name.starts_with("FUSELINE")).filter_map(|p| p.file(DRIVER));
    let known = DRIVER_FOLDERS.iter().map(|f| Path::new(f).join(DRIVER));
    explicit.chain([PathBuf::from(DRIVER)]).chain(known).map(Candidate::File).collect()
}

/// Where a library may be.
enum Candidate {
    File(PathBuf),
    /// Not there, in words.
    Absent(String),
}

/// Loads the first file that can be.
fn load<T>(
    candidates: Vec<Candidate>,
    name: &'static str,
    make: impl Fn(Library) -> Result<T, String>,
) -> (Option<T>, LibraryInfo) {
    let mut info = LibraryInfo { name, ..LibraryInfo::default() };
    for candidate in candidates {
        let file = match candidate {
            Candidate::File(file) => file,
            Candidate::Absent(place) => {
                info.tried.push(place);
                continue;
            }
        };
        if name == "nvrtc" {
            preload_builtins(&file);
        }
        match open(&file).and_then(&make) {
            Ok(table) => {
                info.path = Some(mapped(&file).unwrap_or(file));
                return (Some(table), info);
            }
            Err(why) => info.tried.push(format!("{} ({why})", file.display())),
        }
    }
    (None, info)
}

/// Loads the part of the compiler that it looks for by name only, from beside it. It is never unloaded.
fn preload_builtins(nvrtc: &Path) {
    let major = nvrtc.to_string_lossy().rsplit('.').next().unwrap_or_default().to_owned();
    let builtins = nvrtc.parent().and_then(|folder| starting(folder, &format!("libnvrtc-builtins.so.{major}")));
    if let Some(Ok(library)) = builtins.map(|b| open(&b)) {
        std::mem::forget(library);
    }
}

fn open(file: &Path) -> Result<Library, String> {
    // SAFETY: the libraries of CUDA, and what they load, may be initialised in any thread.
    unsafe { Library::new(file) }.map_err(|e| e.source().map_or_else(|| e.to_string(), ToString::to_string))
}

/// The absolute path of a library that the system found.
fn mapped(file: &Path) -> Option<PathBuf> {
    if file.is_absolute() {
        return None;
    }
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let name = file.to_string_lossy().split(".so").next()?.to_owned() + ".so";
    let paths = maps.lines().filter_map(|l| Some(Path::new(&l[l.find('/')?..])));
    paths.into_iter().find(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&name))).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_libraries_is_told_what_to_install() {
        let missing = |name| LibraryInfo { name, tried: vec!["here".into(), "there".into()], ..LibraryInfo::default() };
        let attempt = Attempt { driver: None, nvrtc: None, blas: None, found: ["cuda", "nvrtc", "cublasLt"].map(missing).into() };
        let error = attempt.missing();
        assert_eq!(error.kind, base::ErrorKind::Unsupported);
        let text = error.to_string();
        for part in [
            "cuda was not found; tried here, there",
            "pip install nvidia-cuda-nvrtc nvidia-cublas",
            "FUSELINE_CUDA_PATH",
            "driver",
        ] {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
    }

    #[test]
    fn a_file_that_is_no_library_is_passed_over() {
        let file = std::env::temp_dir().join(format!("fuseline-no-library-{}", std::process::id()));
        std::fs::write(&file, "text").unwrap();
        let (table, info) = load(vec![Candidate::Absent("nowhere".into()), Candidate::File(file.clone())], "cuda", Driver::load);
        assert!(table.is_none() && info.path.is_none() && info.tried.len() == 2, "{info:?}");
        std::fs::remove_file(file).unwrap();
    }
}
