test plan
# row 24: max-pool, then add
# golden 1
func max_pool_add(x: f32[1, 64, 112, 112], r: f32[1, 64, 56, 56]) -> (y) {
  %2 = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value -inf : f32[1, 64, 114, 114]   # max_pool @ model.rs:11
  %3 = view.window %2 axis 2 stride 2 dilation 1 size 3 : f32[1, 64, 56, 114, 3]   # max_pool @ model.rs:11
  %4 = view.window %3 axis 3 stride 2 dilation 1 size 3 : f32[1, 64, 56, 56, 3, 3]   # max_pool @ model.rs:11
  %5 = reduce.max %4 [4, 5] : f32[1, 64, 56, 56]   # max_pool @ model.rs:11
  %6 = add %5, %r : f32[1, 64, 56, 56]   # add @ model.rs:12
  return y = %6
}
----
1 kernels
k0_max_pool_add: Row (64 × 56 × 56 | 3 × 3) members %5 %6 -> %6; read 4014080 written 802816 flops 2007040
