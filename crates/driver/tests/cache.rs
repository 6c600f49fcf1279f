//! Plans of another process: loaded where everything is equal, made anew where something differs, and never trusted when damaged.

use std::fs;
use std::path::{Path, PathBuf};

use base::Config;
use driver::{Cached, Executable, HostTensor, Module, compile};
use graph::Builder;
use scalar::{DType, Sym};

/// A folder that is empty at first and removed at last.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("fuseline-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }
    fn config(&self) -> Config {
        Config { cache: Some(self.0.display().to_string()), ..Config::default() }
    }
    fn files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.0.join("plans")) else { return Vec::new() };
        entries.map(|e| e.unwrap().path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Softmax-like rows of `x[n, width]` times a constant.
fn rows(width: usize, scale: f64) -> Module {
    let mut b = Builder::new("rows");
    let x = b.input("x", DType::F32, [Sym::named("n"), Sym::from(width)], false).unwrap();
    let e = b.map(scalar::ScalarOp::Exp, &[x]).unwrap();
    let s = b.reduce(scalar::Combiner::Sum, &[e], &[1]).unwrap();
    let c = b.constant(scalar::Scalar::from_f64(DType::F32, scale)).unwrap();
    let c = graph::compose::broadcast_to(&mut b, c, &[Sym::named("n")].into_iter().collect()).unwrap();
    let y = b.map(scalar::ScalarOp::Mul, &[s, c]).unwrap();
    b.output("y", y).unwrap();
    Module { graph: b.finish(), frozen: vec![] }
}

fn run(e: &Executable) -> HostTensor {
    let values: Vec<f64> = (0..35).map(|i| f64::from(i) / 9.0).collect();
    e.run(&[HostTensor::from_f64s(DType::F32, &[5, 7], &values)]).unwrap().remove(0)
}

#[test]
fn a_second_compile_loads_an_equal_plan() {
    let folder = Folder::new("second");
    let first = compile(&rows(7, 2.0), &folder.config()).unwrap();
    assert_eq!(*first.cached(), Cached::Stored);
    let second = compile(&rows(7, 2.0), &folder.config()).unwrap();
    assert_eq!(*second.cached(), Cached::Loaded);
    assert_eq!(second.timing().iter().map(|t| t.0).collect::<Vec<_>>(), ["load"]);
    assert_eq!(format!("{:?}", first.plan()), format!("{:?}", second.plan()));
    assert_eq!(run(&first).bytes(), run(&second).bytes());
}

#[test]
fn every_part_of_the_key_counts() {
    let folder = Folder::new("parts");
    let config = folder.config();
    compile(&rows(7, 2.0), &config).unwrap();
    let other = [
        (rows(8, 2.0), config.clone()),
        (rows(7, 3.0), config.clone()),
        (rows(7, 2.0), Config { fuse: false, ..config.clone() }),
        (rows(7, 2.0), Config { fuel: Some(1), ..config.clone() }),
        (rows(7, 2.0), Config { numerics: base::Numerics::Wide, ..config.clone() }),
    ];
    for (n, (module, config)) in other.iter().enumerate() {
        assert_eq!(*compile(module, config).unwrap().cached(), Cached::Stored, "variant {n}");
    }
    assert_eq!(folder.files().len(), 1 + other.len());
    let threads = Config { threads: 3, ..config };
    assert_eq!(*compile(&rows(7, 2.0), &threads).unwrap().cached(), Cached::Loaded, "plans do not depend on threads");
}

#[test]
fn no_folder_no_cache() {
    assert_eq!(*compile(&rows(7, 2.0), &Config::default()).unwrap().cached(), Cached::Off);
}

#[test]
fn a_damaged_plan_is_made_again() {
    let folder = Folder::new("damaged");
    let whole = run(&compile(&rows(7, 2.0), &folder.config()).unwrap());
    let file = folder.files().remove(0);
    let bytes = fs::read(&file).unwrap();
    let flipped = |at: usize| bytes.iter().enumerate().map(|(i, b)| if i == at { b ^ 1 } else { *b }).collect::<Vec<u8>>();
    for damaged in [vec![], bytes[..20].to_vec(), bytes[..bytes.len() - 1].to_vec(), flipped(3), flipped(bytes.len() - 9)] {
        fs::write(&file, &damaged).unwrap();
        let again = compile(&rows(7, 2.0), &folder.config()).unwrap();
        assert_eq!(*again.cached(), Cached::Stored, "{} bytes", damaged.len());
        assert_eq!(run(&again).bytes(), whole.bytes());
        assert_eq!(fs::read(&file).unwrap(), bytes, "the same plan is written");
    }
    assert_eq!(folder.files().len(), 1, "nothing unfinished stays");
}

#[test]
fn a_folder_that_cannot_be_used_says_so_and_compiles() {
    let folder = Folder::new("file");
    fs::write(&folder.0, "not a folder").unwrap();
    let compiled = compile(&rows(7, 2.0), &folder.config()).unwrap();
    assert!(matches!(compiled.cached(), Cached::Failed(why) if why.contains("fuseline-cache-file")), "{:?}", compiled.cached());
    fs::remove_file(&folder.0).unwrap();
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_write_to_is_not_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("shared");
    compile(&rows(7, 2.0), &folder.config()).unwrap();
    let allow = |mode| fs::set_permissions(folder.0.join("plans"), fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(mode(&folder.0.join("plans")), 0o700);
    allow(0o777);
    let compiled = compile(&rows(7, 2.0), &folder.config()).unwrap();
    assert!(matches!(compiled.cached(), Cached::Failed(why) if why.contains("another user")), "{:?}", compiled.cached());
    allow(0o700);
    assert_eq!(*compile(&rows(7, 2.0), &folder.config()).unwrap().cached(), Cached::Loaded);
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_cache_is_described() {
    let folder = Folder::new("described");
    assert_eq!(driver::describe_cache(&Config::default()), "off");
    assert!(
        driver::describe_cache(&folder.config()).ends_with(", 0 plan(s), 0 B"),
        "{}",
        driver::describe_cache(&folder.config())
    );
    compile(&rows(7, 2.0), &folder.config()).unwrap();
    assert!(driver::describe_cache(&folder.config()).contains(", 1 plan(s), "));
}
