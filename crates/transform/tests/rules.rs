//! Every rule applies to its function in `rules.txt` (functions are named after rules), and keeps every bit.

use std::collections::BTreeSet;

use graph::{Graph, text, verify};
use testing::differential::{interpret, seeded_case};
use testing::generate::{Profile, inputs, sizes};
use testing::tolerance::{Tolerance, compare};
use testing::{Cursor, seed_bytes};
use transform::simplify::{Options, rule_names, simplify, simplify_counted};

fn functions() -> Vec<Graph> {
    text::parse_all("rules.txt", include_str!("rules.txt")).unwrap_or_else(|e| panic!("{e}"))
}

/// Interprets both graphs on special values at several sizes.
fn same_bits(before: &Graph, after: &Graph) {
    for seed in 0..24 {
        let bytes = seed_bytes(seed, 64);
        let mut choice = Cursor::new(&bytes);
        let sizes = sizes(before, &mut choice);
        let inputs = inputs(before, &sizes, &mut choice, Profile::Any).expect("inputs are made");
        let want = interpret(before, &inputs).unwrap_or_else(|e| panic!("{e}\n{before}"));
        let got = interpret(after, &inputs).unwrap_or_else(|e| panic!("{e}\n{before}\n{after}"));
        compare(&want, &got, Tolerance::Exact).unwrap_or_else(|e| panic!("{e}\n{before}\n{after}"));
    }
}

#[test]
fn each_rule_applies_and_keeps_every_bit() {
    for before in functions() {
        let (after, hits) = simplify_counted(&before, &Options::default());
        verify(&after).unwrap_or_else(|e| panic!("{e}\n{before}\n{after}"));
        assert!(hits.contains_key(before.name.as_str()), "{} does not apply, only {hits:?}, in\n{before}\n{after}", before.name);
        same_bits(&before, &after);
    }
}

#[test]
fn every_rule_has_a_function() {
    let tested: BTreeSet<String> = functions().into_iter().map(|g| g.name).collect();
    let rules: BTreeSet<String> = rule_names().into_iter().map(str::to_owned).collect();
    assert_eq!(tested, rules);
}

#[test]
fn twice_is_once() {
    let options = Options::default();
    let generated = (0..400).map(|seed| seeded_case(seed, Profile::Any).expect("generated").graph);
    for before in functions().into_iter().chain(generated) {
        let once = simplify(&before, &options);
        let (twice, hits) = simplify_counted(&once, &options);
        assert!(hits.is_empty() && twice == once, "{hits:?}\n{before}\n{once}\n{twice}");
    }
}

#[test]
fn fuel_bounds_applications() {
    let before = functions().into_iter().find(|g| g.name == "neutral_right").expect("it is in the file");
    let total: u64 = simplify_counted(&before, &Options::default()).1.values().sum();
    assert!(total > 4);
    for fuel in 0..total {
        let (after, hits) = simplify_counted(&before, &Options { fuel: Some(fuel) });
        assert!(hits.values().sum::<u64>() <= fuel);
        same_bits(&before, &after);
    }
    assert_eq!(simplify(&before, &Options { fuel: Some(0) }), before);
}

/// Rewrites that look right and change a float result.
#[test]
fn floating_point_law() {
    let kept = [
        ("add %x, %zero", "x + 0.0 turns −0.0 into 0.0"),
        ("mul %x, %zero", "x · 0.0 is NaN for NaN and infinities, −0.0 for negative x"),
        ("sub %x, %x", "x − x is NaN for NaN and infinities"),
        ("div %x, %three", "1/3 is rounded"),
        ("cast.f32 %half", "the narrower cast rounds"),
        ("eq %x, %x", "NaN is not itself"),
        ("max %x, %zero", "its result keeps NaN"),
    ];
    for (op, why) in kept {
        let source = format!(
            "func f(x: f32[4]) {{\n  %z = const f32 0.0\n  %z1 = view.reshape %z [1]\n  %zero = view.expand %z1 [4]\n  %t = const f32 3.0\n  \
             %t1 = view.reshape %t [1]\n  %three = view.expand %t1 [4]\n  %half = cast.f16 %x\n  %y = {op}\n  return y = %y\n}}\n"
        );
        let before = text::parse("law", &source).unwrap_or_else(|e| panic!("{e}"));
        let after = simplify(&before, &Options::default());
        let op_of = |g: &Graph| g.node(g.outputs[0].value).op.clone();
        assert_eq!(op_of(&after), op_of(&before), "{why}\n{after}");
    }
}
