test plan
# row 25: weights are read as int8, nothing is expanded at load
# golden 1
# once 0
func dequantised_linear(x: f32[128, 768], w: frozen i8[3072, 768], scale: frozen f32[3072, 1]) -> (y) {
  %3 = cast.f32 %w : f32[3072, 768]   # dequantise @ model.rs:11
  %4 = view.expand %scale [3072, 768] : f32[3072, 768]   # dequantise @ model.rs:11
  %5 = mul %3, %4 : f32[3072, 768]   # dequantise @ model.rs:11
  %6 = contract %x, %5 "ab,cb->ac" acc f32 : f32[128, 3072]   # linear @ model.rs:12
  return y = %6
}
----
1 kernels
k0_dequantise_linear: Contraction (128 × 3072 | 768) members %3 %5 %6 -> %6; read 2764800 written 1572864 flops 608698368
