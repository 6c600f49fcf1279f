use scalar::{Combiner, DType, Scalar, ScalarOp, Sym};

use super::Builder;
use crate::{At, Graph, NodeId, Op, Origin, OriginId, WriteCombine, text, verify};

fn sym(text: &str) -> Sym {
    Sym::parse(text).unwrap()
}

fn input(b: &mut Builder, name: &str, shape: &[&str]) -> NodeId {
    b.input(name, DType::F32, shape.iter().map(|s| sym(s)), false).unwrap()
}

#[test]
fn equal_nodes_are_one_node() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["n"]);
    let e = b.map(ScalarOp::Exp, &[x]).unwrap();
    let again = b.with_origin("exp", "here:1", |b| b.map(ScalarOp::Exp, &[x])).unwrap();
    assert_eq!(e, again);
    assert_eq!(b.graph().node(e).origin, OriginId(0), "the first origin stays");
    let y = input(&mut b, "y", &["n"]);
    assert_ne!(x, y, "inputs of one type differ by slot");
    assert_ne!(b.map(ScalarOp::Exp, &[y]).unwrap(), e);
    assert_ne!(b.constant(Scalar::f32(0.0)).unwrap(), b.constant(Scalar::f32(-0.0)).unwrap());
}

#[test]
fn a_continued_graph_interns_its_own_nodes() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["n"]);
    let e = b.map(ScalarOp::Exp, &[x]).unwrap();
    let mut b = Builder::from_graph(b.finish());
    assert_eq!(b.map(ScalarOp::Exp, &[x]).unwrap(), e);
    assert!(b.input("x", DType::F32, [4usize], false).unwrap_err().to_string().contains("declared twice"));
}

#[test]
fn each_outermost_scope_is_one_user_op() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["n"]);
    let (p, q) = b.with_origin("softmax", "m.rs:1", |b| {
        let p = b.with_origin("exp", "lib.rs:9", |b| b.map(ScalarOp::Exp, &[x]).unwrap());
        (p, b.map(ScalarOp::Neg, &[p]).unwrap())
    });
    let r = b.with_origin("softmax", "m.rs:1", |b| b.map(ScalarOp::Abs, &[x]).unwrap());
    let g = b.graph();
    assert_eq!(g.node(p).origin, g.node(q).origin);
    assert_eq!(g.origin(p).to_string(), "softmax at m.rs:1");
    assert_ne!(g.node(p).origin, g.node(r).origin, "same text, another op of the user");
    assert_eq!(g.origin(p), g.origin(r));
    assert_eq!(g.node(x).origin, OriginId(0));
}

#[test]
fn scopes_without_nodes_leave_no_origin() {
    let mut b = Builder::new("f");
    b.with_origin("nothing", "", |_| ());
    b.pop_origin();
    assert_eq!(b.graph().origins, [Origin::default()]);
}

#[test]
fn a_rewrite_keeps_slots_and_origins() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["n"]);
    let y = b.with_origin("exp", "m.rs:1", |b| b.map(ScalarOp::Exp, &[x]).unwrap());
    let old = b.finish();
    let mut b = Builder::rewrite(&old);
    assert!(b.graph().nodes.is_empty());
    let x = b.input_slot(0).unwrap();
    b.set_origin(old.node(y).origin).unwrap();
    let z = b.map(ScalarOp::Exp2, &[x]).unwrap();
    assert_eq!(b.graph().origin(z).op, "exp");
    assert!(b.set_origin(OriginId(7)).is_err());
    assert!(b.input_slot(1).is_err());
}

#[test]
fn unproved_equalities_become_guards_once() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["n", "n"]);
    let y = input(&mut b, "y", &["m", "m"]);
    let z = b.with_origin("add", "m.rs:12", |b| b.map(ScalarOp::Add, &[x, y])).unwrap();
    let w = b.map(ScalarOp::Mul, &[y, z]).unwrap();
    let g = b.graph();
    assert_eq!(g.guards.len(), 1, "{:?}", g.guards);
    assert_eq!(g.guards[0].reason, "add at m.rs:12: shapes [n, n] and [m, m]");
    assert!(g.facts.proves_eq(&sym("m"), &sym("n")));
    assert_eq!(g.tensor(w).to_string(), "f32[m, m]");
    verify(g).unwrap();
}

#[test]
fn reshape_guards_element_counts() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["b", "12", "s", "32"]);
    b.reshape(x, [sym("12*b"), sym("32*s")]).unwrap();
    assert!(b.graph().guards.is_empty());
    b.reshape(x, [sym("b"), sym("k")]).unwrap();
    assert_eq!(b.graph().guards.len(), 1);
    assert_eq!(b.graph().guards[0].reason, "view.reshape: element counts of [b, 12, s, 32] and [b, k]");
}

#[test]
fn bounds_are_proved_guarded_or_refused() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["n", "8"]);
    b.slice(x, [0usize, 2], [sym("n"), sym("6")], &[1, 1]).unwrap();
    assert!(b.graph().guards.is_empty());
    b.slice(x, [1usize, 0], [sym("n - 1"), sym("8")], &[1, 1]).unwrap();
    assert_eq!(b.graph().guards.len(), 1, "n ≥ 1 is not known: {:?}", b.graph().guards);
    let error = b.slice(x, [0usize, 4], [sym("n"), sym("5")], &[1, 1]).unwrap_err().to_string();
    assert_eq!(
        error,
        "view.slice(f32[n, 8]): the range from 4 with 5 elements and step 1 must lie in axis 1 of extent 8: 8 is less than 9"
    );
    verify(b.graph()).unwrap();
}

#[test]
fn errors_name_op_types_and_origin() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["n", "4"]);
    let y = input(&mut b, "y", &["n", "5"]);
    let error = b.with_origin("residual", "m.rs:3", |b| b.map(ScalarOp::Add, &[x, y])).unwrap_err();
    assert_eq!(error.to_string(), "residual at m.rs:3: add(f32[n, 4], f32[n, 5]): shapes [n, 4] and [n, 5] differ: 4 is not 5");
    let two = b.reduce(Combiner::ArgMax, &[x], &[1]).unwrap();
    assert!(b.map(ScalarOp::Exp, &[two]).unwrap_err().to_string().contains("has 2 results; read one of them with result"));
    assert!(b.output("y", two).unwrap_err().to_string().contains("read one with result"));
    assert!(b.map(ScalarOp::Exp, &[NodeId(99)]).unwrap_err().to_string().contains("there is no node %99"));
    assert!(b.set_donated(2).is_err());
}

#[test]
fn einsum_specs_are_canonical() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["b", "i", "k"]);
    let y = input(&mut b, "y", &["b", "k", "j"]);
    let p = b.einsum("bik,bkj->bij", x, y, DType::F32).unwrap();
    assert_eq!(p, b.einsum("ZAc, ZcD -> ZAD", x, y, DType::F32).unwrap());
    assert_eq!(b.graph().tensor(p).to_string(), "f32[b, i, j]");
    for wrong in ["bik,bkj", "bik->bij", "b1k,bkj->bj", ""] {
        assert!(b.einsum(wrong, x, y, DType::F32).is_err(), "{wrong}");
    }
    assert!(b.einsum("bii,bkj->bij", x, y, DType::F32).unwrap_err().to_string().contains("occurs twice"));
}

#[test]
fn results_and_conveniences() {
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["n", "4"]);
    assert_eq!(b.result(x, 0).unwrap(), x);
    assert!(b.result(x, 1).is_err());
    let pair = b.reduce(Combiner::ArgMax, &[x], &[1]).unwrap();
    let index = b.result(pair, 1).unwrap();
    assert_eq!(b.graph().tensor(index).to_string(), "i64[n]");
    let start = b.sym(sym("n - 1")).unwrap();
    let row = b.slice(x, [0usize, 0], [1usize, 4], &[1, 1]).unwrap();
    let at = At::Dynamic { axes: [0].as_slice().into() };
    let updated = b.write(WriteCombine::Set, at, x, row, &[start]).unwrap();
    b.output("y", updated).unwrap();
    assert!(b.output("y", x).is_err());
    b.set_donated(0).unwrap();
    let g = b.finish();
    assert!(g.inputs[0].donated);
    verify(&g).unwrap();
}

#[test]
fn regions_take_bodies() {
    let body = || {
        let mut b = Builder::new("step");
        b.input("t", DType::I64, [] as [Sym; 0], false).unwrap();
        let h = input(&mut b, "h", &["4"]);
        let x = input(&mut b, "x", &["4"]);
        let sum = b.map(ScalarOp::Add, &[h, x]).unwrap();
        b.output("h", sum).unwrap();
        b.output("y", h).unwrap();
        b.finish()
    };
    let mut b = Builder::new("f");
    let h = input(&mut b, "h", &["4"]);
    let xs = input(&mut b, "xs", &["n", "4"]);
    let run = b.region_loop(sym("n"), &[h], &[xs], &[], body()).unwrap();
    assert_eq!(b.ty(run).to_string(), "(f32[4], f32[n, 4])");
    assert_eq!(run, b.region_loop(sym("n"), &[h], &[xs], &[], body()).unwrap());
    assert!(b.region_loop(sym("n"), &[xs], &[xs], &[], body()).unwrap_err().to_string().contains("input h of body step"));
    assert!(b.region_loop(sym("n"), &[h], &[], &[], body()).unwrap_err().to_string().contains("takes 3 values, got 2"));
    verify(b.graph()).unwrap();
}

#[test]
fn branches_agree() {
    let body = |op: ScalarOp| {
        let mut b = Builder::new("arm");
        let x = input(&mut b, "x", &["n"]);
        let y = b.map(op, &[x]).unwrap();
        b.output("y", y).unwrap();
        b.finish()
    };
    let mut b = Builder::new("f");
    let x = input(&mut b, "x", &["n"]);
    let c = b.constant(Scalar::bool(true)).unwrap();
    let y = b.region_if(c, &[x], body(ScalarOp::Exp), body(ScalarOp::Neg)).unwrap();
    assert_eq!(b.ty(y).to_string(), "f32[n]");
    let error = b.region_if(c, &[x], body(ScalarOp::Exp), body(ScalarOp::IsNan)).unwrap_err().to_string();
    assert!(error.contains("result 0 of the two bodies: f32[n] is not bool[n]"), "{error}");
    assert!(b.region_if(x, &[x], body(ScalarOp::Exp), body(ScalarOp::Neg)).unwrap_err().to_string().contains("must be bool[]"));
}

#[test]
fn a_graph_without_builder_origins_gets_the_empty_one() {
    let g = Builder::from_graph(Graph::default()).finish();
    assert_eq!(g.origins.len(), 1);
    assert_eq!(text::op_name(&Op::Materialize), "materialize");
}
