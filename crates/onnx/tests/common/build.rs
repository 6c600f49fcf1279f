//! Small models, built in memory.

use onnx::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetId, ShapeProto, TensorProto, TensorTypeProto,
    TypeProto, ValueInfoProto,
};

/// ONNX number of f32.
pub(crate) const FLOAT: i32 = 1;
/// ONNX number of i64.
pub(crate) const INT64: i32 = 7;

/// A typed name; a dimension that is no number is a symbol.
pub(crate) fn value(name: &str, elem_type: i32, dims: &[&str]) -> ValueInfoProto {
    let dim = |d: &&str| match d.parse() {
        Ok(n) => DimensionProto { dim_value: Some(n), dim_param: None },
        Err(_) => DimensionProto { dim_value: None, dim_param: Some(d.to_string()) },
    };
    let shape = Some(ShapeProto { dim: dims.iter().map(dim).collect() });
    let tensor_type = Some(TensorTypeProto { elem_type: Some(elem_type), shape });
    ValueInfoProto { name: Some(name.into()), r#type: Some(TypeProto { tensor_type }) }
}

/// A node.
pub(crate) fn node(op: &str, inputs: &[&str], outputs: &[&str], attribute: Vec<AttributeProto>) -> NodeProto {
    let list = |names: &[&str]| names.iter().map(|n| n.to_string()).collect();
    NodeProto { input: list(inputs), output: list(outputs), op_type: Some(op.into()), attribute, ..Default::default() }
}

/// An integer list attribute.
pub(crate) fn ints(name: &str, ints: &[i64]) -> AttributeProto {
    AttributeProto { name: Some(name.into()), ints: ints.to_vec(), kind: Some(7), ..Default::default() }
}

/// An integer attribute.
pub(crate) fn int(name: &str, i: i64) -> AttributeProto {
    AttributeProto { name: Some(name.into()), i: Some(i), kind: Some(2), ..Default::default() }
}

/// A subgraph attribute.
pub(crate) fn graph_attribute(name: &str, g: GraphProto) -> AttributeProto {
    AttributeProto { name: Some(name.into()), g: Some(g), kind: Some(5), ..Default::default() }
}

/// An f32 constant.
pub(crate) fn weight(name: &str, dims: &[i64], values: &[f32]) -> TensorProto {
    let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    TensorProto {
        name: Some(name.into()),
        dims: dims.to_vec(),
        data_type: Some(FLOAT),
        raw_data: Some(raw.into()),
        ..Default::default()
    }
}

/// A constant vector of i64.
pub(crate) fn indices(name: &str, values: &[i64]) -> TensorProto {
    let dims = vec![values.len() as i64];
    TensorProto { name: Some(name.into()), dims, data_type: Some(INT64), int64_data: values.to_vec(), ..Default::default() }
}

/// A model at op set 17.
pub(crate) fn model(graph: GraphProto) -> ModelProto {
    let opset_import = vec![OperatorSetId { domain: None, version: Some(17) }];
    ModelProto { ir_version: Some(8), graph: Some(graph), opset_import, ..Default::default() }
}
