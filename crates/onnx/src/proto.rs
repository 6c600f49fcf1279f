//! The messages of `onnx.proto` that the importer reads; field numbers as in the ONNX IR specification.
//!
//! Unknown fields are skipped. `prost` bounds the nesting depth at 100 messages.

use bytes::Bytes;
use prost::Message;

/// A model file.
#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    /// IR version.
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    /// Exporter.
    #[prost(string, optional, tag = "2")]
    pub producer_name: Option<String>,
    /// Exporter's version.
    #[prost(string, optional, tag = "3")]
    pub producer_version: Option<String>,
    /// The program.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Versions of the op sets used.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetId>,
}

/// Version of one op set.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetId {
    /// Domain; empty is `ai.onnx`.
    #[prost(string, optional, tag = "1")]
    pub domain: Option<String>,
    /// Version.
    #[prost(int64, optional, tag = "2")]
    pub version: Option<i64>,
}

/// A graph or subgraph.
#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    /// Nodes, normally in topological order.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name.
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    /// Constants; one that is also an input is that input's default.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Inputs.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Sparse constants, which are not supported; read to refuse them.
    #[prost(bytes = "bytes", repeated, tag = "15")]
    pub sparse_initializer: Vec<Bytes>,
}

/// One operation.
#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    /// Operand names; empty is an omitted operand.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Result names; empty is an unused result.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name.
    #[prost(string, optional, tag = "3")]
    pub name: Option<String>,
    /// Op.
    #[prost(string, optional, tag = "4")]
    pub op_type: Option<String>,
    /// Attributes.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Domain of the op.
    #[prost(string, optional, tag = "7")]
    pub domain: Option<String>,
}

/// A named attribute.
#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    /// Name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// Float value.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// Integer value.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// String value.
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub s: Option<Bytes>,
    /// Tensor value.
    #[prost(message, optional, tag = "5")]
    pub t: Option<TensorProto>,
    /// Subgraph.
    #[prost(message, optional, tag = "6")]
    pub g: Option<GraphProto>,
    /// Float list.
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    /// Integer list.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// String list.
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub strings: Vec<Bytes>,
    /// Subgraphs.
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<GraphProto>,
    /// Kind of value.
    #[prost(int32, optional, tag = "20")]
    pub kind: Option<i32>,
}

/// A constant.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    /// Extents.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// Element type, see `tensor`.
    #[prost(int32, optional, tag = "2")]
    pub data_type: Option<i32>,
    /// f32 elements.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements of 32 bits or fewer; f16 and bf16 as their bits.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// i64 elements.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Name.
    #[prost(string, optional, tag = "8")]
    pub name: Option<String>,
    /// Little-endian elements.
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub raw_data: Option<Bytes>,
    /// f64 elements.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// u32 and u64 elements.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// Where external data lies: `location`, `offset`, `length`.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntry>,
    /// 1 when the data is external.
    #[prost(int32, optional, tag = "14")]
    pub data_location: Option<i32>,
}

/// A key with its value.
#[derive(Clone, PartialEq, Message)]
pub struct StringStringEntry {
    /// Key.
    #[prost(string, optional, tag = "1")]
    pub key: Option<String>,
    /// Value.
    #[prost(string, optional, tag = "2")]
    pub value: Option<String>,
}

/// Name and type of a value.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    /// Name.
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
    /// Type.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
}

/// A type; only tensors are read.
#[derive(Clone, PartialEq, Message)]
pub struct TypeProto {
    /// A tensor.
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorTypeProto>,
}

/// A tensor's type.
#[derive(Clone, PartialEq, Message)]
pub struct TensorTypeProto {
    /// Element type.
    #[prost(int32, optional, tag = "1")]
    pub elem_type: Option<i32>,
    /// Shape; absent is unknown rank.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<ShapeProto>,
}

/// A shape.
#[derive(Clone, PartialEq, Message)]
pub struct ShapeProto {
    /// Extents.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

/// One extent: a number, a name, or unknown.
#[derive(Clone, PartialEq, Message)]
pub struct DimensionProto {
    /// Number.
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    /// Name.
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}
