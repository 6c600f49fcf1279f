//! Generated programs with fixed seeds on the CPU, fused and unfused, against the interpreter.

use testing::cpu::cpu_runtimes;
use testing::differential::{check, fails, seeded_case};
use testing::generate::Profile;
use testing::{Outcome, reduce};

#[test]
fn tame_programs() {
    let runtimes = cpu_runtimes();
    let (mut agreed, mut refused) = (0, 0);
    let mut failures: Vec<String> = Vec::new();
    let count = std::env::var("SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    for seed in 5000..5000 + count {
        let case = seeded_case(seed, Profile::Tame).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for runtime in &runtimes {
            match check(&case, runtime) {
                Ok(Outcome::Agreed) => agreed += 1,
                Ok(Outcome::Refused) => refused += 1,
                Err(_) => {
                    let (small, inputs) = reduce(&case.graph, &case.inputs, &mut |g, x| fails(g, x, runtime));
                    let why = testing::differential::again(&small, &inputs, runtime);
                    failures.push(format!("seed {seed} on {}:\n{small}{why}", runtime.name));
                }
            }
        }
    }
    let shown: Vec<&str> = failures.iter().map(String::as_str).take(12).collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), shown.join("\n"));
    assert!(refused * 10 < agreed, "{refused} of {} cases refused", agreed + refused);
}
