test cuda
# numerics wide
# what gelu is applied to is a second result of the library's call
func linear_gelu(x: bf16[512, 768], w: frozen bf16[768, 1024], b: frozen bf16[1024]) -> (y, z) {
  %p = contract %x, %w "ab,bc->ac" acc f32
  %b1 = view.reshape %b [1, 1024]
  %b2 = view.expand %b1 [512, 1024]
  %s = add %p, %b2
  %u = cast.f32 %s
  %u2 = mul %u, %u
  %u3 = mul %u2, %u
  %c = const f32 0.044715
  %c1 = view.reshape %c [1, 1]
  %c2 = view.expand %c1 [512, 1024]
  %bent = mul %u3, %c2
  %in = add %u, %bent
  %d = const f32 0.7978846
  %d1 = view.reshape %d [1, 1]
  %d2 = view.expand %d1 [512, 1024]
  %scaled = mul %in, %d2
  %t = tanh %scaled
  %one = const f32 1.0
  %one1 = view.reshape %one [1, 1]
  %one2 = view.expand %one1 [512, 1024]
  %gate = add %t, %one2
  %h = const f32 0.5
  %h1 = view.reshape %h [1, 1]
  %h2 = view.expand %h1 [512, 1024]
  %half = mul %u, %h2
  %g = mul %half, %gate
  %y = cast.bf16 %g
  return y = %y, z = %s
}
----
k0_contract_add_cast_f32_mul_and_2
  p0: x bf16[393216] Read
  p1: w bf16[786432] Read
  p2: b bf16[1024] Read
  p3: %6 bf16[524288] Write
  p4: %29 bf16[524288] Write
product 512 x 1024 over 768 in f32: bf16 p4[1024, 1] = bf16 p0[768, 1] * bf16 p1[1024, 1] + p2[0..] over columns, GeluTanh beside p3[0..]
