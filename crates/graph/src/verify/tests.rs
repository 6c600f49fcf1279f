use scalar::{DType, Facts, Sym};

use super::verify;
use crate::text::parse;
use crate::{Graph, InputDecl, NodeId, Op, Origin, OriginId, Output, Region, TensorType, Type};

fn graph() -> Graph {
    let text = "
func f(x: f32[n], y: f32[m], c: bool[]) -> (z) {
  %3 = add %x, %y   # add @ m.rs:1
  %4 = reduce.argmax %3 [0]
  %5 = if %c, %x {
    func a(x: f32[n]) {
      %1 = exp %x
      return r = %1
    }
    func b(x: f32[n]) {
      return r = %x
    }
  }
  return z = %3
}";
    parse("v.t", text).unwrap()
}

fn unguard(g: &mut Graph) {
    g.guards.clear();
    g.facts = Facts::default();
}

/// The message for a graph with one thing broken.
fn broken(f: impl FnOnce(&mut Graph)) -> String {
    let mut g = graph();
    verify(&g).unwrap();
    f(&mut g);
    verify(&g).expect_err("the verifier must refuse").to_string()
}

fn wrong_type(g: &mut Graph, id: usize, dtype: DType) {
    let Type::Tensor(t) = &mut g.nodes[id].ty else { panic!("a tensor") };
    t.dtype = dtype;
}

#[test]
fn broken_nodes_are_found() {
    for (found, wanted) in [
        (broken(|g| g.nodes[3].args[1] = NodeId(3)), "%3 = add: operand %3 does not precede its user"),
        (broken(|g| g.nodes[3].args[1] = NodeId(99)), "operand %99 does not precede its user"),
        (broken(|g| g.nodes[3].args.truncate(1)), "add takes 2 operands, got 1"),
        (broken(|g| wrong_type(g, 3, DType::F16)), "the type is f32[n], not f16[n]"),
        (broken(|g| wrong_type(g, 0, DType::F16)), "%0 = input: the type is f32[n], not f16[n]"),
        (broken(|g| g.nodes[3].origin = OriginId(9)), "origin 9 is not in the table of 2"),
        (broken(|g| g.nodes[1].op = Op::Input(0)), "input slot 0 has two nodes"),
        (broken(|g| g.nodes[1].op = Op::Input(7)), "there is no input slot 7"),
        (broken(|g| g.nodes[3].op = Op::Iota(Sym::named("k"))), "dimension k is not bound"),
    ] {
        assert!(found.contains(wanted), "{found}\n  wanted {wanted}");
    }
}

#[test]
fn broken_tables_are_found() {
    let k = TensorType { dtype: DType::F32, shape: [Sym::named("k")].into_iter().collect() };
    let decl = InputDecl { name: "x".into(), ty: k, frozen: false, donated: false };
    for (found, wanted) in [
        (broken(unguard), "shapes [n] and [m]: n = m is neither proved nor guarded"),
        (broken(|g| g.origins.clear()), "entry 0 of the origins"),
        (broken(|g| g.origins[0] = Origin { op: "a".into(), source: String::new() }), "entry 0 of the origins"),
        (broken(|g| g.inputs.push(decl)), "two inputs have the name \"x\""),
        (broken(|g| g.outputs.push(g.outputs[0].clone())), "two outputs have the name \"z\""),
        (broken(|g| g.outputs[0].value = NodeId(4)), "output \"z\" has several results"),
        (broken(|g| g.outputs[0] = Output { name: "q".into(), value: NodeId(77) }), "node %77, which does not exist"),
        (broken(|g| g.guards[0].left = Sym::named("k")), "dimension k is not bound"),
    ] {
        assert!(found.contains(wanted), "{found}\n  wanted {wanted}");
    }
}

#[test]
fn broken_bodies_are_found() {
    let break_body = |f: fn(&mut Graph)| {
        broken(|g| {
            let Op::Region(Region::If { then, .. }) = &mut g.nodes[5].op else { panic!("an if") };
            f(std::sync::Arc::make_mut(then));
        })
    };
    let found = break_body(|body| wrong_type(body, 1, DType::F16));
    assert!(found.contains("func f: %5 = if:"), "{found}");
    let found = break_body(|body| body.nodes[1].op = Op::Iota(Sym::named("k")));
    assert!(found.contains("func f: %5 = if: func a: %1 = iota: dimension k is not bound"), "{found}");
}
