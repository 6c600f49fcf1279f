//! The reducer finds the small program inside a large one.

use graph::{Graph, Op, text, verify};
use scalar::ScalarOp;
use testing::differential::{case, interpret};
use testing::generate::Profile;
use testing::{reduce, seed_bytes};

fn has(g: &Graph, op: ScalarOp) -> bool {
    g.nodes.iter().any(|n| n.op == Op::Map(op))
}

#[test]
fn keeps_only_what_fails() {
    let source = "func f(x: f32[n, 4], z: f32[n, 4], unused: i64[]) {\n  %a = add %x, %z\n  %b = exp %a\n  %c = erf %b\n  %d = mul %c, %x\n  \
                  %e = reduce.sum %d [1]\n  return p = %e, q = %a, r = %b\n}\n";
    let g = text::parse("t", source).unwrap_or_else(|e| panic!("{e}"));
    let t = |s: &[usize]| graph::HostTensor::from_f64s(scalar::DType::F32, s, &vec![1.0; s.iter().product()]);
    let inputs = [t(&[7, 4]), t(&[7, 4]), graph::HostTensor::from_i64s(scalar::DType::I64, &[], &[3])];
    let mut tried = 0;
    let (small, args) = reduce(&g, &inputs, &mut |g, x| {
        tried += 1;
        verify(g).is_ok() && interpret(g, x).is_ok() && has(g, ScalarOp::Erf)
    });
    assert!(tried < 200, "{tried}");
    assert_eq!(small.to_string(), "func f(x: f32[n, 4]) -> (p) {\n  %1 = erf %0 : f32[n, 4]\n  return p = %1\n}\n");
    assert_eq!(args.iter().map(|t| t.shape().to_vec()).collect::<Vec<_>>(), [[0, 4]]);
}

#[test]
fn generated_programs_shrink_and_stay_valid() {
    let mut shrunk = 0;
    for seed in 0..40 {
        let c = case(&seed_bytes(seed, 800), Profile::Any).expect("generated");
        let swept = |g: &Graph| transform::simplify(g, &transform::Options { fuel: Some(0) });
        let wanted = |g: &Graph| swept(g).nodes.iter().any(|n| matches!(n.op, Op::Reduce(..)));
        if !wanted(&c.graph) || interpret(&c.graph, &c.inputs).is_err() {
            continue;
        }
        let (small, args) = reduce(&c.graph, &c.inputs, &mut |g, x| wanted(g) && interpret(g, x).is_ok());
        verify(&small).unwrap_or_else(|e| panic!("{e}\n{small}"));
        assert!(wanted(&small) && interpret(&small, &args).is_ok());
        assert!(small.nodes.len() <= 4, "{small}");
        shrunk += 1;
    }
    assert!(shrunk > 5, "{shrunk}");
}
