//! Settings of a compile, in their effects.

use fuseline::{Config, Mode, Result, Tensor, compile_pure, set_config, set_mode};

fn softmax(x: &[Tensor]) -> Vec<Tensor> {
    vec![((&x[0] * 2.0).exp() + 1.0).softmax(-1)]
}

/// Kernels of the report of a call.
fn kernels(config: Config) -> Result<usize> {
    let _scope = set_config(config);
    let f = compile_pure(softmax);
    f.call(&[Tensor::rand([4, 8])])?;
    let report = f.explain();
    let text = report.split_once(" nodes → ").and_then(|(_, rest)| rest.split(' ').next()).expect("a count of kernels");
    Ok(text.parse().expect("a number"))
}

#[test]
fn a_dump_holds_every_level() -> Result<()> {
    let root = std::env::temp_dir().join(format!("fuseline-dump-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    let config = Config { dump: Some(root.display().to_string()), ..Config::default() };
    kernels(config)?;
    let folders: Vec<_> = std::fs::read_dir(&root).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    let read = |name: &str| std::fs::read_to_string(folders[0].join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(
        read("1-graph.t").contains("func ") && read("2-simplified.t").contains("exp") && read("3-prepared.t").contains("exp")
    );
    for name in ["4-plan.txt", "5-kernels.txt", "timing.txt", "6-programs-x0_0=4,x0_1=8.txt"] {
        assert!(!read(name).is_empty(), "{name}");
    }
    read("remarks-x0_0=4,x0_1=8.txt");
    std::fs::remove_dir_all(&root).unwrap();
    Ok(())
}

#[test]
fn a_dump_that_cannot_be_written_is_an_error() {
    let file = std::env::temp_dir().join(format!("fuseline-file-{}", std::process::id()));
    std::fs::write(&file, "").unwrap();
    let error = kernels(Config { dump: Some(file.display().to_string()), ..Config::default() }).unwrap_err().to_string();
    assert!(error.contains("FUSELINE_DUMP"), "{error}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn fuel_limits_merges_and_nofuse_forbids_them() -> Result<()> {
    let fused = kernels(Config::default())?;
    let none = kernels(Config { fuse: false, ..Config::default() })?;
    let empty = kernels(Config { fuel: Some(0), ..Config::default() })?;
    let one = kernels(Config { fuel: Some(1), ..Config::default() })?;
    assert_eq!(fused, 1);
    assert!(none > 1 && empty > one && one > fused, "{none} {empty} {one} {fused}");
    let x = Tensor::rand([4, 8]);
    let want = softmax(std::slice::from_ref(&x))[0].to_vec::<f32>()?;
    let _eager = set_mode(Mode::Eager);
    assert_eq!(softmax(&[x])[0].to_vec::<f32>()?, want);
    Ok(())
}
