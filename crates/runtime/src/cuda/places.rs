//! Folders in which the libraries of CUDA may lie.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base::CudaConfig;

/// Folders that belong together, in the order in which they are searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// For messages.
    pub(crate) name: String,
    pub(crate) folders: Vec<PathBuf>,
}

impl Place {
    /// Whether a setting names it.
    pub(crate) fn is_setting(&self) -> bool {
        self.name.starts_with("FUSELINE")
    }
    /// The file of a library.
    pub(crate) fn file(&self, name: &str) -> Option<PathBuf> {
        self.folders.iter().map(|f| f.join(name)).find(|p| p.exists())
    }
}

/// Every place but the system's own: what the process has loaded, the explicit setting, Python environments, toolkits.
pub(crate) fn places(config: &CudaConfig) -> Vec<Place> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut places = vec![Place { name: "libraries of this process".into(), folders: loaded(&maps) }];
    places.extend(config.path.iter().map(|p| explicit(Path::new(p))));
    places.extend(config.python.iter().map(|p| environment(&root_of(Path::new(p)))));
    places.push(toolkits(Path::new("/usr/local")));
    places
}

/// A Python environment's root; a program is asked for its own.
fn root_of(python: &Path) -> PathBuf {
    let asked = || Command::new(python).args(["-c", "import sys; print(sys.prefix)"]).output().ok();
    let answer = if python.is_file() { asked() } else { None };
    answer.map_or_else(|| python.to_path_buf(), |out| PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()))
}

/// Folders of the libraries of CUDA that a process has mapped, and of wheels beside them.
fn loaded(maps: &str) -> Vec<PathBuf> {
    let is_cuda =
        |name: &str| ["libnvrtc.so.", "libcublasLt.so.", "libcudart.so.", "libcudnn.so."].iter().any(|p| name.starts_with(p));
    let mut folders: Vec<PathBuf> = Vec::new();
    for line in maps.lines() {
        let Some(at) = line.find('/') else { continue };
        let file = Path::new(&line[at..]);
        if !file.file_name().is_some_and(|n| is_cuda(&n.to_string_lossy())) {
            continue;
        }
        let Some(folder) = file.parent() else { continue };
        let wheels = folder.ancestors().nth(2).filter(|p| p.ends_with("nvidia"));
        for folder in std::iter::once(folder.to_path_buf()).chain(wheels.into_iter().flat_map(wheel_folders)) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    folders
}

/// A folder of libraries, a toolkit, or a folder of wheels.
fn explicit(root: &Path) -> Place {
    let mut folders = vec![root.to_path_buf()];
    folders.extend(["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"].map(|f| root.join(f)));
    folders.retain(|f| f.is_dir());
    folders.extend(wheel_folders(&root.join("nvidia")));
    folders.extend(environment(root).folders);
    Place { name: format!("FUSELINE_CUDA_PATH={}", root.display()), folders }
}

/// Wheels in the site-packages of a Python environment, and its own libraries, as conda has them.
fn environment(root: &Path) -> Place {
    let mut folders = Vec::new();
    for lib in ["lib", "lib64", "local/lib"] {
        for version in children(&root.join(lib)).iter().filter(|p| file_starts(p, "python3")) {
            folders
                .extend(["site-packages", "dist-packages"].iter().flat_map(|s| wheel_folders(&version.join(s).join("nvidia"))));
        }
    }
    folders.extend(Some(root.join("lib")).filter(|f| f.is_dir()));
    Place { name: format!("Python environment {}", root.display()), folders }
}

/// Libraries of the wheels in one folder `nvidia`: `cuda_nvrtc/lib`, `cublas/lib` and so on, or `cu13/lib` with all.
fn wheel_folders(nvidia: &Path) -> Vec<PathBuf> {
    children(nvidia).into_iter().map(|p| p.join("lib")).filter(|p| p.is_dir()).collect()
}

/// Installed toolkits: the selected one, then the newest.
fn toolkits(root: &Path) -> Place {
    let mut found: Vec<PathBuf> = children(root).into_iter().filter(|p| file_starts(p, "cuda-")).collect();
    found.sort_by_key(|p| std::cmp::Reverse(version(p)));
    found.insert(0, root.join("cuda"));
    let folders =
        found.into_iter().flat_map(|p| ["lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"].map(|f| p.join(f)));
    Place { name: format!("toolkits {}", root.join("cuda*").display()), folders: folders.filter(|f| f.is_dir()).collect() }
}

/// Numbers of a folder's name: `cuda-12.9` has 12 and 9.
fn version(path: &Path) -> Vec<u32> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split(['-', '.']).filter_map(|n| n.parse().ok()).collect()
}

fn file_starts(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(start))
}

/// Entries of a folder in the order of their names; none if it cannot be read.
fn children(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    entries
}

/// The first file of a folder whose name starts so.
pub(crate) fn starting(folder: &Path, start: &str) -> Option<PathBuf> {
    children(folder).into_iter().find(|p| file_starts(p, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for one test, empty.
    fn scratch(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("fuseline-places-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn both_layouts_of_wheels_are_found() {
        let root = scratch("wheels");
        let old = root.join("lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
        let new = root.join("lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
        touch(&old);
        touch(&new);
        let place = environment(&root);
        assert_eq!(place.file("libnvrtc.so.12"), Some(old));
        assert_eq!(place.file("libnvrtc.so.13"), Some(new));
        assert_eq!(place.file("libcublasLt.so.13"), None);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn toolkits_come_selected_first_then_newest() {
        let root = scratch("toolkits");
        for name in ["cuda-12.9", "cuda-12.10", "cuda-13.0", "cuda"] {
            touch(&root.join(name).join("lib64/libnvrtc.so.12"));
        }
        let folders: Vec<_> = ["cuda", "cuda-13.0", "cuda-12.10", "cuda-12.9"].map(|n| root.join(n).join("lib64")).into();
        assert_eq!(toolkits(&root).folders, folders);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn mapped_libraries_and_wheels_beside_them_are_found() {
        let root = scratch("maps");
        let [blas, nvrtc] = ["cublas/lib", "cuda_nvrtc/lib"].map(|f| root.join("nvidia").join(f));
        touch(&blas.join("libcublasLt.so.12"));
        touch(&nvrtc.join("libnvrtc.so.12"));
        let maps = format!("7f00-7f01 r-xp 00000000 08:01 42    {}\n7f02 [heap]", blas.join("libcublasLt.so.12").display());
        assert_eq!(loaded(&maps), [blas, nvrtc]);
        fs::remove_dir_all(root).unwrap();
    }
}
