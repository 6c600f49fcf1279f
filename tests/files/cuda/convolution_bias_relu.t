test cuda
# numerics wide
func biased(x: f16[8, 56, 56, 64], w: frozen f16[32, 3, 3, 64], b: frozen f16[32]) -> (y) {
  %p = view.pad %x lo [0, 1, 1, 0] hi [0, 1, 1, 0] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 1 stride 1 dilation 1 size 3
  %c = view.window %a axis 2 stride 1 dilation 1 size 3
  %d = contract %c, %w "abcdef,gefd->abcg" acc f32
  %r = view.reshape %b [1, 1, 1, 32]
  %e = view.expand %r [8, 56, 56, 32]
  %s = add %d, %e
  %zero = const f16 0.0 : f16[]
  %q = view.reshape %zero [1, 1, 1, 1]
  %z = view.expand %q [8, 56, 56, 32]
  %y = max %s, %z
  return y = %y
}
----
k0_contract_add_max
  p0: x f16[1605632] Read
  p1: w f16[18432] Read
  p2: b f16[32] Read
  p3: %13 f16[802816] Write
convolution in f32, 1 groups, windows 1/1 pad 1+1 1/1 pad 1+1: y f16 p3[8, 32, 56, 56] by [100352, 1, 1792, 32] = x f16 p0[8, 64, 56, 56] by [200704, 1, 3584, 64] * w f16 p1[32, 64, 3, 3] by [576, 1, 192, 64] + p2[0..] over columns, Relu
