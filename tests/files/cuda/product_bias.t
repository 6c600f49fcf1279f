test cuda
# the library adds the bias and applies relu
func linear_relu(x: f32[512, 768], w: frozen f32[768, 1024], b: frozen f32[1024]) -> (y) {
  %p = contract %x, %w "ab,bc->ac" acc f32
  %b1 = view.reshape %b [1, 1024]
  %b2 = view.expand %b1 [512, 1024]
  %s = add %p, %b2
  %z = const f32 0.0
  %z1 = view.reshape %z [1, 1]
  %z2 = view.expand %z1 [512, 1024]
  %y = max %s, %z2
  return y = %y
}
----
k0_contract_add_max
  p0: x f32[393216] Read
  p1: w f32[786432] Read
  p2: b f32[1024] Read
  p3: %10 f32[524288] Write
product 512 x 1024 over 768 in f32: f32 p3[1024, 1] = f32 p0[768, 1] * f32 p1[1024, 1] + p2[0..] over columns, Relu
