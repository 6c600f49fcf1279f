//! Generated programs with fixed seeds on every runtime of the graph level.

use testing::differential::{check, fails, graph_runtimes, seeded_case};
use testing::generate::Profile;
use testing::{Outcome, reduce};

/// Runs seeds on every runtime; the message of a failure has the reduced program.
fn run_seeds(profile: Profile, seeds: std::ops::Range<u64>) {
    let runtimes = graph_runtimes();
    let (mut agreed, mut refused) = (0, 0);
    for seed in seeds {
        let case = seeded_case(seed, profile).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for runtime in &runtimes {
            match check(&case, runtime) {
                Ok(Outcome::Agreed) => agreed += 1,
                Ok(Outcome::Refused) => refused += 1,
                Err(e) => {
                    let (small, _) = reduce(&case.graph, &case.inputs, &mut |g, x| fails(g, x, runtime));
                    panic!("seed {seed}: {e}\nreduced:\n{small}");
                }
            }
        }
    }
    assert!(refused * 10 < agreed, "{refused} of {} cases refused", agreed + refused);
}

#[test]
fn any_program() {
    run_seeds(Profile::Any, 0..300);
}

#[test]
fn exact_programs() {
    run_seeds(Profile::Exact, 1000..1150);
}

#[test]
fn tame_programs() {
    run_seeds(Profile::Tame, 2000..2150);
}
