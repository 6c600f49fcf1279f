//! Cutting FX graphs: levels, memory behind views, and overwritten arguments.

use std::collections::BTreeSet;

use fuseline_torch::{Extern, Passed, Program, Step, cut, fx};
use serde_json::{Value, json};

/// A tensor type: f32, row-major, in a storage.
fn tensor(shape: &[i64], storage: u64) -> Value {
    let mut strides = vec![1; shape.len()];
    for a in (1..shape.len()).rev() {
        strides[a - 1] = strides[a] * shape[a];
    }
    strided(shape, &strides, storage)
}

fn strided(shape: &[i64], strides: &[i64], storage: u64) -> Value {
    let text = |list: &[i64]| list.iter().map(i64::to_string).collect::<Vec<_>>();
    json!({"tensor": {
        "dtype": "f32", "shape": text(shape), "strides": text(strides), "offset": "0", "storage": storage, "plain": true
    }})
}

fn node(name: &str, kind: &str, target: &str, args: Value, operands: &[usize], value: Value, effect: bool) -> Value {
    json!({
        "name": name, "kind": kind, "target": target, "args": args, "operands": operands, "value": value, "effect": effect,
        "op": name, "source": "model.py:1"
    })
}

fn input(name: &str, value: Value) -> Value {
    node(name, "input", name, json!({}), &[], value, false)
}

fn call(name: &str, target: &str, args: Value, operands: &[usize], value: Value) -> Value {
    node(name, "call", target, args, operands, value, false)
}

fn unary(name: &str, target: &str, of: usize, value: Value) -> Value {
    call(name, target, json!({"self": {"node": of}}), &[of], value)
}

fn output(results: &[usize]) -> Value {
    let list: Vec<Value> = results.iter().map(|n| json!({"node": n})).collect();
    node("output", "output", "output", json!({"results": {"list": list}}), results, json!("none"), false)
}

fn program(nodes: &[Value]) -> Program {
    let graph = json!({"version": fx::VERSION, "name": "test", "nodes": nodes, "symbols": {}});
    cut(&fx::Graph::from_json(&graph.to_string()).unwrap(), &BTreeSet::new()).unwrap()
}

/// `S` for a segment with its kernels' ops, `X` for a torch call.
fn steps(program: &Program) -> Vec<String> {
    let text = |step: &Step| match step {
        Step::Segment(s) => format!("S{}->{}", s.reads.len(), s.makes.len()),
        Step::Extern(x) => format!("X{}", x.node),
    };
    program.steps.iter().map(text).collect()
}

#[test]
fn independent_work_around_a_torch_call_shares_a_segment() {
    let t = || tensor(&[4, 8], 9);
    let made = |n| tensor(&[4, 8], n);
    let p = program(&[
        input("x", t()),
        unary("exp", "aten.exp.default", 0, made(1)),
        unary("odd", "mine.odd.default", 1, made(2)),
        unary("sin", "aten.sin.default", 0, made(3)),
        unary("cos", "aten.cos.default", 2, made(4)),
        output(&[3, 4]),
    ]);
    assert_eq!(steps(&p), ["S1->2", "X2", "S1->1"]);
    let reason = |s| if let &Step::Extern(Extern { ref reason, .. }) = s { Some(reason.as_str()) } else { None };
    let reasons: Vec<&str> = p.steps.iter().filter_map(reason).collect();
    assert_eq!(reasons, ["no lowering"]);
}

/// A value of `op` that is added to what torch gives, and added again to what torch gives of the sum.
fn read_twice(op: &str, overwritten: bool) -> Vec<String> {
    let add = |name: &str, torch: usize, storage: u64| {
        let args = json!({"self": {"node": 2}, "other": {"node": torch}, "alpha": {"int": 1}});
        call(name, "aten.add.Tensor", args, &[2, torch], tensor(&[4, 8], storage))
    };
    let mut nodes = vec![
        input("x", tensor(&[4, 8], 0)),
        input("y", tensor(&[4, 8], 9)),
        unary("value", op, 0, tensor(&[4, 8], 1)),
        unary("odd", "mine.odd.default", 1, tensor(&[4, 8], 2)),
        add("sum", 3, 3),
        unary("odd", "mine.odd.default", 4, tensor(&[4, 8], 4)),
        add("sum", 5, 5),
    ];
    if overwritten {
        nodes.push(node("odd_", "call", "mine.odd_.default", json!({"self": {"node": 0}}), &[0], tensor(&[4, 8], 0), true));
    }
    nodes.push(output(&[6]));
    steps(&program(&nodes))
}

#[test]
fn what_is_made_of_arguments_waits_for_its_readers() {
    let cheap = ["X3", "S2->1", "X5", "S2->1"];
    assert_eq!(read_twice("aten.neg.default", false), cheap, "x is read twice, and what torch gives");
    let costly = ["X3", "S2->2", "X5", "S2->1"];
    assert_eq!(read_twice("aten.exp.default", false), costly, "the first reader's segment keeps it for the second");
    let early = ["S1->1", "X3", "S2->1", "X5", "S2->1", "X7"];
    assert_eq!(read_twice("aten.neg.default", true), early, "x may be another at its readers");
}

#[test]
fn results_that_are_views_share_the_memory_of_what_they_show() {
    let p = program(&[
        input("x", tensor(&[4, 8], 0)),
        unary("exp", "aten.exp.default", 0, tensor(&[4, 8], 1)),
        unary("t", "aten.t.default", 1, strided(&[8, 4], &[1, 8], 1)),
        unary("xt", "aten.t.default", 0, strided(&[8, 4], &[1, 8], 0)),
        output(&[1, 2, 3]),
    ]);
    assert_eq!(steps(&p), ["S1->1"]);
    let bases: Vec<(usize, bool)> = p
        .results
        .iter()
        .map(|r| match r {
            Passed::Tensor(s) => (s.base.node, s.whole),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(bases, [(1, true), (1, false), (0, false)]);
}

#[test]
fn an_argument_is_overwritten_only_when_nothing_needs_it_later() {
    let nodes = |later: bool| {
        let mut nodes = vec![
            input("x", tensor(&[4, 8], 0)),
            unary("exp", "aten.exp.default", 0, tensor(&[4, 8], 1)),
            unary("odd", "mine.odd.default", if later { 0 } else { 1 }, tensor(&[4, 8], 2)),
        ];
        let args = json!({"self": {"node": 0}, "src": {"node": 1}, "non_blocking": {"bool": false}});
        nodes.push(node("copy_", "call", "aten.copy_.default", args, &[0, 1], tensor(&[4, 8], 0), true));
        nodes.push(output(&[2]));
        program(&nodes)
    };
    assert_eq!(steps(&nodes(false)), ["S1->2", "X2"]);
    let kept = nodes(true);
    assert_eq!(steps(&kept), ["S1->1", "X2", "X3"], "torch still reads x after the segment");
}

#[test]
fn malformed_graphs_are_errors() {
    for text in ["", "{}", "{\"version\": 0, \"name\": \"x\", \"nodes\": [], \"symbols\": {}}"] {
        assert!(fx::Graph::from_json(text).is_err(), "{text}");
    }
    let ahead = json!({"version": fx::VERSION, "name": "x", "symbols": {}, "nodes": [unary("exp", "aten.exp.default", 1, tensor(&[2], 0))]});
    assert!(fx::Graph::from_json(&ahead.to_string()).is_err());
}
