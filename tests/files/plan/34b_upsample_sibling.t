test plan
# row 34: nearest upsample by 2 added to a sibling of the same size
# golden 1
func upsample_sibling(x: f32[1, 64, h, w], r: f32[1, 64, p, q]) -> (y) {
  %2 = view.reshape %x [1, 64, h, 1, w] : f32[1, 64, h, 1, w]   # resize @ model.rs:11
  %3 = view.expand %2 [1, 64, h, 2, w] : f32[1, 64, h, 2, w]   # resize @ model.rs:11
  %4 = view.reshape %3 [1, 64, 2*h, w]   # resize @ model.rs:11
  %5 = view.reshape %4 [1, 64, 2*h, w, 1]   # resize @ model.rs:11
  %6 = view.expand %5 [1, 64, 2*h, w, 2]   # resize @ model.rs:11
  %7 = view.reshape %6 [1, 64, 2*h, 2*w]   # resize @ model.rs:11
  %8 = add %7, %r   # add @ model.rs:12
  return y = %8
}
----
1 kernels
k0_add: Pointwise (64 × p × q | ) members %7 -> %7; read 8388608 written 4194304 flops 1048576
