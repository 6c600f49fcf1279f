//! Generated programs with fixed seeds on the CPU, fused and unfused, against the interpreter.

use base::Config;
use graph::Op;
use testing::cpu::{cpu_runtimes, run_compiled};
use testing::differential::{Runtime, again, check, fails, seeded_case};
use testing::generate::Profile;
use testing::tolerance::{Tolerance, compare};
use testing::{Outcome, reduce};

#[test]
fn tame_programs() {
    let runtimes = cpu_runtimes();
    let (mut agreed, mut refused) = (0, 0);
    let mut failures: Vec<String> = Vec::new();
    for seed in 5000..5000 + seeds(150) {
        let case = seeded_case(seed, Profile::Tame).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for runtime in &runtimes {
            match check(&case, runtime) {
                Ok(Outcome::Agreed) => agreed += 1,
                Ok(Outcome::Refused) => refused += 1,
                Err(_) => {
                    let (small, inputs) = reduce(&case.graph, &case.inputs, &mut |g, x| fails(g, x, runtime));
                    let why = again(&small, &inputs, runtime);
                    failures.push(format!("seed {seed} on {}:\n{small}{why}", runtime.name));
                }
            }
        }
    }
    let shown: Vec<&str> = failures.iter().map(String::as_str).take(12).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), shown.join("\n"));
    assert!(refused * 10 < agreed, "{refused} of {} cases refused", agreed + refused);
}

/// Programs of ops whose bits no engine may change, up to the sign of zero.
#[test]
fn exact_programs() {
    let mut failures = Vec::new();
    for seed in 9000..9000 + seeds(150) {
        let case = seeded_case(seed, Profile::Exact).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for fuse in [true, false] {
            let config = Config { fuse, threads: 1, ..Config::default() };
            let runtime = Runtime::new("cpu exact", Profile::Exact, Tolerance::Equal, move |g, x| run_compiled(g, x, &config));
            if check(&case, &runtime).is_err() {
                let (small, inputs) = reduce(&case.graph, &case.inputs, &mut |g, x| fails(g, x, &runtime));
                failures.push(format!("seed {seed}, fuse {fuse}:\n{small}{}", again(&small, &inputs, &runtime)));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures[..failures.len().min(8)].join("\n"));
}

/// In eager numerics, fused pointwise work has the bits of one kernel per op, for every op and every value.
#[test]
fn fused_pointwise_equals_unfused() {
    let mut compared = 0;
    for seed in 20_000..20_000 + 4 * seeds(150) {
        let case = seeded_case(seed, Profile::Any).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let pointwise =
            |op: &Op| matches!(op, Op::Input(_) | Op::Const(_) | Op::SymConst(_) | Op::Iota(_) | Op::Map(_) | Op::View(_));
        if !case.graph.nodes.iter().all(|n| pointwise(&n.op)) {
            continue;
        }
        let run = |fuse: bool| run_compiled(&case.graph, &case.inputs, &Config { fuse, threads: 1, ..Config::default() });
        let (fused, unfused) = (run(true), run(false));
        match (fused, unfused) {
            (Ok(f), Ok(u)) => {
                compared += 1;
                compare(&u, &f, Tolerance::Exact).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{}", case.graph));
            }
            (Err(_), Err(_)) => {}
            (f, u) => panic!("seed {seed}: fused {:?}, unfused {:?}\n{}", f.err(), u.err(), case.graph),
        }
    }
    assert!(compared > 20, "only {compared} pointwise programs");
}

/// `SEEDS`, or a default.
fn seeds(default: u64) -> u64 {
    std::env::var("SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}
