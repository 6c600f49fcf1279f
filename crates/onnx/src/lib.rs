//! ONNX files to graphs, one function per ONNX op.
