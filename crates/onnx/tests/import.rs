//! What an import looks like: symbols, frozen weights, constants, and errors that name the node.

mod common;

use common::build::{FLOAT, INT64, graph_attribute, indices, int, model, node, value, weight};
use common::interpret;
use graph::{HostTensor, Op};
use onnx::proto::{GraphProto, ModelProto, TensorProto};
use onnx::{Import, LoadOptions, load_model};
use scalar::{DType, ScalarOp};

fn load(m: &ModelProto) -> Import {
    load_model(m, None, &LoadOptions::default()).unwrap()
}

fn dims(import: &Import) -> Vec<String> {
    import.outputs[0].dims.iter().map(ToString::to_string).collect()
}

fn count(import: &Import, f: impl Fn(&Op) -> bool) -> usize {
    import.module.graph.nodes.iter().filter(|n| f(&n.op)).count()
}

/// `y = Reshape(x, Concat(Shape(x)[0], Shape(x)[1] * 2, -1))` on `x [n, m, 6]`.
fn reshaped() -> ModelProto {
    model(GraphProto {
        node: vec![
            node("Shape", &["x"], &["s"], vec![]),
            node("Gather", &["s", "first"], &["n"], vec![]),
            node("Slice", &["s", "second", "third"], &["m"], vec![]),
            node("Mul", &["m", "two"], &["m2"], vec![]),
            node("Concat", &["n", "m2", "minus"], &["t"], vec![int("axis", 0)]),
            node("Reshape", &["x", "t"], &["y"], vec![]),
        ],
        initializer: vec![
            indices("first", &[0]),
            indices("second", &[1]),
            indices("third", &[2]),
            indices("two", &[2]),
            indices("minus", &[-1]),
        ],
        input: vec![value("x", FLOAT, &["n", "m", "6"])],
        output: vec![value("y", FLOAT, &["a", "b", "c"])],
        ..Default::default()
    })
}

#[test]
fn shape_arithmetic_leaves_one_reshape() {
    let import = load(&reshaped());
    assert_eq!(dims(&import), ["n", "2*m", "3"]);
    assert_eq!(import.module.graph.nodes.len(), 2, "{:?}", import.module.graph.nodes);
    assert!(import.module.graph.guards.is_empty());
    for (n, m) in [(1, 1), (2, 5)] {
        let x = HostTensor::from_f64s(DType::F32, &[n, m, 6], &vec![1.0; n * m * 6]);
        assert_eq!(interpret(&import.module, &[x]).unwrap()[0].shape(), [n, 2 * m, 3]);
    }
}

#[test]
fn dimensions_can_be_fixed() {
    let fixed = |name: &str, n| LoadOptions { fixed_dims: [(name.to_owned(), n)].into(), ..LoadOptions::default() };
    let import = load_model(&reshaped(), None, &fixed("m", 4)).unwrap();
    assert_eq!(dims(&import), ["n", "8", "3"]);
    let error = load_model(&reshaped(), None, &fixed("k", 4)).unwrap_err();
    assert_eq!(error.to_string(), "no input has a dimension 'k'; dynamic dimensions: m, n");
}

/// `y = Reshape(x, shape)` with the shape as an input.
fn data_dependent() -> ModelProto {
    let mut reshape = node("Reshape", &["x", "shape"], &["y"], vec![]);
    reshape.name = Some("head/reshape".into());
    model(GraphProto {
        node: vec![reshape],
        input: vec![value("x", FLOAT, &["4", "3"]), value("shape", INT64, &["2"])],
        output: vec![value("y", FLOAT, &["a", "b"])],
        ..Default::default()
    })
}

#[test]
fn a_shape_from_data_is_an_error_that_names_the_node() {
    let error = load_model(&data_dependent(), None, &LoadOptions::default()).unwrap_err();
    assert_eq!(error.kind, base::ErrorKind::Unsupported);
    let expected = "Reshape at head/reshape: shape depends on data; only constants and dimensions are known at import";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn inputs_can_be_constants() {
    let shape = HostTensor::from_i64s(DType::I64, &[2], &[6, 2]);
    let options = LoadOptions { constants: [("shape".to_owned(), shape)].into(), ..LoadOptions::default() };
    let import = load_model(&data_dependent(), None, &options).unwrap();
    assert_eq!(dims(&import), ["6", "2"]);
    assert_eq!(import.inputs.len(), 1);
}

#[test]
fn int8_weights_stay_int8() {
    let raw: Vec<u8> = (0..=255).collect();
    let q = TensorProto {
        name: Some("q".into()),
        dims: vec![16, 16],
        data_type: Some(3),
        raw_data: Some(raw.into()),
        ..Default::default()
    };
    let import = load(&model(GraphProto {
        node: vec![
            node("Cast", &["q"], &["f"], vec![int("to", 1)]),
            node("Mul", &["f", "scale"], &["w"], vec![]),
            node("MatMul", &["x", "w"], &["y"], vec![]),
        ],
        initializer: vec![q, weight("scale", &[1], &[0.5])],
        input: vec![value("x", FLOAT, &["n", "16"])],
        output: vec![value("y", FLOAT, &["n", "16"])],
        ..Default::default()
    }));
    assert_eq!(import.module.frozen.len(), 1, "the scale is a constant");
    let decl = &import.module.graph.inputs[import.module.frozen[0].slot as usize];
    assert_eq!((decl.name.as_str(), decl.ty.dtype, decl.frozen), ("q", DType::I8, true));
    assert_eq!(count(&import, |op| matches!(op, Op::Map(ScalarOp::Cast(DType::F32)))), 1);
}

#[test]
fn origins_name_op_and_node() {
    let import = load(&data_independent());
    let origins: Vec<String> = import.module.graph.origins[1..].iter().map(|o| format!("{} {}", o.op, o.source)).collect();
    assert_eq!(origins, ["Softmax y"]);
}

fn data_independent() -> ModelProto {
    model(GraphProto {
        node: vec![node("Softmax", &["x"], &["y"], vec![])],
        input: vec![value("x", FLOAT, &["n", "4"])],
        output: vec![value("y", FLOAT, &["n", "4"])],
        ..Default::default()
    })
}

/// `y = condition ? Tanh(x) : x + 1`, the branches reading x from outside.
#[test]
fn branches_capture_values() {
    let branch = |nodes| GraphProto { node: nodes, output: vec![value("z", FLOAT, &["n"])], ..Default::default() };
    let then = branch(vec![node("Tanh", &["x"], &["z"], vec![])]);
    let other = branch(vec![node("Add", &["x", "c"], &["z"], vec![])]);
    let branches = vec![graph_attribute("then_branch", then), graph_attribute("else_branch", other)];
    let import = load(&model(GraphProto {
        node: vec![
            node("ReduceSum", &["x"], &["total"], vec![int("keepdims", 0)]),
            node("Greater", &["total", "limit"], &["condition"], vec![]),
            node("If", &["condition"], &["y"], branches),
        ],
        initializer: vec![weight("limit", &[], &[0.0]), weight("c", &[2], &[1.0, 2.0])],
        input: vec![value("x", FLOAT, &["2"])],
        output: vec![value("y", FLOAT, &["2"])],
        ..Default::default()
    }));
    let run = |x: [f64; 2]| interpret(&import.module, &[HostTensor::from_f64s(DType::F32, &[2], &x)]).unwrap()[0].to_f64s();
    assert_eq!(run([-4.0, 1.0]), [-3.0, 3.0]);
    assert!((run([0.0, 4.0])[1] - 4f64.tanh()).abs() < 1e-6);
}
