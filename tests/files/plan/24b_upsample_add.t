test plan
# row 24: nearest upsample, then add
# golden 1
func upsample_add(x: f32[1, 256, 28, 28], r: f32[1, 256, 56, 56]) -> (y) {
  %2 = view.reshape %x [1, 256, 28, 1, 28] : f32[1, 256, 28, 1, 28]   # resize @ model.rs:11
  %3 = view.expand %2 [1, 256, 28, 2, 28] : f32[1, 256, 28, 2, 28]   # resize @ model.rs:11
  %4 = view.reshape %3 [1, 256, 56, 28] : f32[1, 256, 56, 28]   # resize @ model.rs:11
  %5 = view.reshape %4 [1, 256, 56, 28, 1] : f32[1, 256, 56, 28, 1]   # resize @ model.rs:11
  %6 = view.expand %5 [1, 256, 56, 28, 2] : f32[1, 256, 56, 28, 2]   # resize @ model.rs:11
  %7 = view.reshape %6 [1, 256, 56, 56] : f32[1, 256, 56, 56]   # resize @ model.rs:11
  %8 = add %7, %r : f32[1, 256, 56, 56]   # add @ model.rs:12
  return y = %8
}
----
1 kernels
k0_add: Pointwise (256 × 56 × 56 | ) members %7 -> %7; read 4014080 written 3211264 flops 802816
