test plan
# row 12: concat of two convolutions: each stores into its slice, no copy
# golden 2
func concat_convs(x: f32[1, 64, 56, 56], w1: frozen f32[64, 64, 1, 1], w3: frozen f32[64, 64, 3, 3]) -> (y) {
  %3 = view.reshape %w1 [64, 64] : f32[64, 64]   # conv @ model.rs:11
  %4 = contract %x, %3 "abcd,eb->aecd" acc f32 : f32[1, 64, 56, 56]   # conv @ model.rs:11
  %5 = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0 : f32[1, 64, 58, 58]   # conv @ model.rs:12
  %6 = view.window %5 axis 2 stride 1 dilation 1 size 3 : f32[1, 64, 56, 58, 3]   # conv @ model.rs:12
  %7 = view.window %6 axis 3 stride 1 dilation 1 size 3 : f32[1, 64, 56, 56, 3, 3]   # conv @ model.rs:12
  %8 = contract %7, %w3 "abcdef,gbef->agcd" acc f32 : f32[1, 64, 56, 56]   # conv @ model.rs:12
  %9 = concat %4, %8 [1] : f32[1, 128, 56, 56]   # concat @ model.rs:13
  return y = %9
}
----
2 kernels
k0_conv: Contraction (64 × 56 × 56 | 64) members %4 -> %4 in %9 at 0; read 819200 written 802816 flops 25690112
k1_conv: Contraction (64 × 56 × 56 | 64 × 3 × 3) members %8 -> %8 in %9 at 64; read 950272 written 802816 flops 231211008
