//! The libraries of CUDA: found by absolute path, of one major version, loaded once per process.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use base::{CudaConfig, Error, Result};
use libloading::Library;

use super::blas::Blas;
use super::cudnn::{self, Dnn};
use super::driver::Driver;
use super::nccl::{self, Nccl};
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
    /// What it is: `cuda` (the driver), `nvrtc`, `cublasLt`, `cudnn` or `nccl`.
    pub name: &'static str,
    /// Its file, if it was loaded; a bare name was left to the system.
    pub path: Option<PathBuf>,
    /// Its version.
    pub version: Option<String>,
    /// Where it was looked for in vain, or why it could not be loaded.
    pub tried: Vec<String>,
    /// What installs it, if it was not found.
    pub install: Option<String>,
}

/// The loaded libraries.
pub(crate) struct Libraries {
    pub(crate) driver: Driver,
    pub(crate) nvrtc: Nvrtc,
    pub(crate) blas: Option<Blas>,
    pub(crate) found: Vec<LibraryInfo>,
    /// Time that finding and loading them took.
    pub(crate) time: Duration,
    /// Loaded by the first convolution, as it is large; and where it is looked for.
    convolutions: OnceLock<(Option<Dnn>, LibraryInfo)>,
    places: Vec<Place>,
}

impl Libraries {
    /// The library of convolutions.
    ///
    /// # Errors
    /// `Unsupported` without it.
    pub(crate) fn dnn(&self) -> Result<&Dnn> {
        let (dnn, about) = self.convolutions();
        dnn.as_ref().ok_or_else(|| about.missing())
    }

    fn convolutions(&self) -> &(Option<Dnn>, LibraryInfo) {
        self.convolutions.get_or_init(|| convolutions(&self.places, &[self.nvrtc.number().0]))
    }

    /// Those that compute, the library of convolutions included.
    pub(super) fn describe(&self) -> Vec<LibraryInfo> {
        self.found.iter().chain([&self.convolutions().1]).cloned().collect()
    }
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
    let (start, places) = (Instant::now(), places(config));
    match Attempt::new(&places) {
        Attempt { driver: Some(driver), nvrtc: Some(nvrtc), blas, found, .. } => {
            let (time, convolutions) = (start.elapsed(), OnceLock::new());
            let libraries = Libraries { driver, nvrtc, blas, found, time, convolutions, places };
            Ok(loaded.insert(Arc::new(libraries)).clone())
        }
        attempt => Err(attempt.missing()),
    }
}

/// The libraries as this process loaded them, or as they would be found now, without opening a GPU.
pub(super) fn describe(config: &CudaConfig) -> Vec<LibraryInfo> {
    let places = places(config);
    let (mut all, major) = match libraries(config) {
        Ok(libraries) => (libraries.describe(), libraries.nvrtc.number().0),
        Err(_) => {
            let Attempt { majors, mut found, .. } = Attempt::new(&places);
            found.push(convolutions(&places, &majors).1);
            (found, majors.first().copied().unwrap_or(MAJORS[0]))
        }
    };
    all.push(collectives(&places, major));
    all
}

/// cuDNN for one of these major versions of CUDA: whole, or its part for graphs alone.
fn convolutions(places: &[Place], majors: &[u32]) -> (Option<Dnn>, LibraryInfo) {
    let files = |name: &str| library_files(places, name, &[cudnn::MAJOR]);
    let candidates = files("libcudnn.so").into_iter().chain(files("libcudnn_graph.so")).collect();
    let make = |library: Library| {
        let dnn = Dnn::load(library)?;
        let major = dnn.cuda_major();
        if majors.contains(&major) { Ok(dnn) } else { Err(format!("it is made for CUDA {major}")) }
    };
    let (dnn, mut info) = load(candidates, "cudnn", make);
    info.version = dnn.as_ref().map(|d| d.number()).map(|(a, b, c)| format!("{a}.{b}.{c}"));
    advise(std::slice::from_mut(&mut info), majors.first().copied().unwrap_or(MAJORS[0]));
    (dnn, info)
}

/// What is known of NCCL, to be installed for a major version of CUDA.
fn collectives(places: &[Place], major: u32) -> LibraryInfo {
    let (nccl, mut info) = load(library_files(places, "libnccl.so", &[nccl::MAJOR]), "nccl", Nccl::load);
    info.version = nccl.as_ref().and_then(Nccl::number).map(|(a, b, c)| format!("{a}.{b}.{c}"));
    advise(std::slice::from_mut(&mut info), major);
    info
}

/// The run-time compiler alone, of any version that is served; the settings' folders come before all others.
pub(super) fn compiler(config: &CudaConfig) -> Result<(Nvrtc, LibraryInfo)> {
    let mut places = places(config);
    places.sort_by_key(|p| !p.is_setting());
    let file = |major: &u32| format!("libnvrtc.so.{major}");
    let known = places.iter().flat_map(|p| MAJORS.iter().map(move |m| p.candidate(&file(m))));
    let candidates = known.chain(MAJORS.iter().map(|m| Candidate::File(file(m).into()))).collect();
    let (nvrtc, mut info) = load(candidates, "nvrtc", Nvrtc::load);
    info.version = nvrtc.as_ref().map(|n| n.number()).map(|(major, minor)| format!("{major}.{minor}"));
    advise(std::slice::from_mut(&mut info), MAJORS[0]);
    match nvrtc {
        Some(nvrtc) => Ok((nvrtc, info)),
        None => Err(info.missing()),
    }
}

static LOADED: Mutex<Option<Arc<Libraries>>> = Mutex::new(None);

/// What could be loaded.
pub(super) struct Attempt {
    driver: Option<Driver>,
    pub(super) nvrtc: Option<Nvrtc>,
    blas: Option<Blas>,
    /// Major versions of CUDA that come into question.
    majors: Vec<u32>,
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
        let newest = nvrtc.as_ref().map(|n| n.number()).or(version).map_or(MAJORS[0], |(major, _)| major);
        let mut found = vec![about_driver, about_nvrtc, about_blas];
        advise(&mut found, newest);
        Attempt { driver, nvrtc, blas, majors, found }
    }

    /// The error for a machine without a driver or a compiler.
    fn missing(&self) -> Error {
        let missing = || self.found[..2].iter().filter(|l| l.path.is_none());
        let parts: Vec<String> = missing().map(LibraryInfo::absent).collect();
        let advice: Vec<&str> = missing().filter_map(|l| l.install.as_deref()).collect();
        Error::unsupported(format!("no GPU can be used: {}; {}", parts.join("; "), advice.join("; ")))
    }
}

impl LibraryInfo {
    /// That it was not found, and where.
    fn absent(&self) -> String {
        format!("{} was not found; tried {}", self.name, self.tried.join(", "))
    }
    /// The error for what needs it.
    pub(super) fn missing(&self) -> Error {
        Error::unsupported(format!("{}; {}", self.absent(), self.install.as_deref().unwrap_or_default()))
    }
}

/// Says what installs the libraries that are missing, for a major version of CUDA.
fn advise(found: &mut [LibraryInfo], major: u32) {
    let suffix = if major >= MAJORS[0] { "" } else { "-cu12" };
    let wheel = |library: &LibraryInfo| match library.name {
        "nvrtc" => Some(format!("nvidia-cuda-nvrtc{suffix}")),
        "cublasLt" => Some(format!("nvidia-cublas{suffix}")),
        "cudnn" => Some(format!("nvidia-cudnn-cu{major}")),
        "nccl" => Some(format!("nvidia-nccl-cu{major}")),
        _ => None,
    };
    let wheels: Vec<String> = found.iter().filter(|l| l.path.is_none()).filter_map(wheel).collect();
    let wheels = format!(
        "run `pip install {}` in the active environment, or set FUSELINE_CUDA_PATH to a folder with the libraries",
        wheels.join(" ")
    );
    for library in found.iter_mut().filter(|l| l.path.is_none()) {
        let driver = "install NVIDIA's driver (580 or newer, or 525 and newer for CUDA 12)";
        library.install = Some(if library.name == "cuda" { driver.to_owned() } else { wheels.clone() });
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
        let mut all: Vec<Candidate> = places.iter().map(|p| p.candidate(&file)).collect();
        all.push(Candidate::File(file.into()));
        all
    };
    majors.iter().flat_map(files).collect()
}

/// Files of the driver to try in order.
fn driver_files(places: &[Place]) -> Vec<Candidate> {
    let explicit = places.iter().filter(|p| p.is_setting()).filter_map(|p| p.file(DRIVER));
    let known = DRIVER_FOLDERS.iter().map(|f| Path::new(f).join(DRIVER));
    explicit.chain([PathBuf::from(DRIVER)]).chain(known).map(Candidate::File).collect()
}

/// Where a library may be.
enum Candidate {
    File(PathBuf),
    /// Not there, in words.
    Absent(String),
}

impl Place {
    /// A library's file, or that it is not there.
    fn candidate(&self, file: &str) -> Candidate {
        self.file(file).map_or_else(|| Candidate::Absent(format!("{file} in {}", self.name)), Candidate::File)
    }
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
            Err(why) => info.tried.push(in_vain(&file, &why)),
        }
    }
    (None, info)
}

/// A file that could not be loaded, and why; that it does not exist goes without saying.
fn in_vain(file: &Path, why: &str) -> String {
    let file = file.display().to_string();
    match why.strip_prefix(&format!("{file}: ")).unwrap_or(why) {
        "cannot open shared object file: No such file or directory" => file,
        why => format!("{file} ({why})"),
    }
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
        let mut found: Vec<LibraryInfo> = ["cuda", "nvrtc", "cublasLt"].map(missing).into();
        advise(&mut found, 13);
        let attempt = Attempt { driver: None, nvrtc: None, blas: None, majors: vec![13], found };
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
    fn only_what_is_missing_is_to_be_installed() {
        let library = |name, path: Option<&str>| LibraryInfo { name, path: path.map(Into::into), ..LibraryInfo::default() };
        let mut found = vec![library("cuda", Some("a")), library("nvrtc", Some("b")), library("cublasLt", None)];
        advise(&mut found, 12);
        assert!(found[..2].iter().all(|l| l.install.is_none()));
        assert!(found[2].install.as_ref().unwrap().contains("`pip install nvidia-cublas-cu12`"));
        for major in MAJORS {
            for name in ["cudnn", "nccl"] {
                let mut missing = library(name, None);
                advise(std::slice::from_mut(&mut missing), major);
                assert!(missing.install.unwrap().contains(&format!("`pip install nvidia-{name}-cu{major}`")));
            }
        }
    }

    #[test]
    fn a_file_that_is_no_library_is_passed_over() {
        let file = std::env::temp_dir().join(format!("fuseline-no-library-{}", std::process::id()));
        std::fs::write(&file, "text").unwrap();
        let (table, info) = load(vec![Candidate::Absent("nowhere".into()), Candidate::File(file.clone())], "cuda", Driver::load);
        assert!(table.is_none() && info.path.is_none() && info.tried.len() == 2, "{info:?}");
        assert!(info.tried[1].starts_with(&format!("{} (", file.display())), "{info:?}");
        assert_eq!(in_vain(Path::new("a"), "a: cannot open shared object file: No such file or directory"), "a");
        std::fs::remove_file(file).unwrap();
    }
}
