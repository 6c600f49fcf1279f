func row_of_many(x: bf16[1, 1024], w: bf16[1024, 1024], b: bf16[1, 1024]) -> (y) {
  %p = contract %x, %w "ab,bc->ac" acc f32
  %y = add %p, %b
  return y = %y
}
====
func row_of_odd(x: i32[2, 100], w: i32[100, 37]) -> (y) {
  %y = contract %x, %w "ab,bc->ac" acc i32
  return y = %y
}
====
func group_norm_part(x: f32[6, 32, 1024], b: f32[32]) -> (y) {
  %b1 = view.reshape %b [1, 32, 1]
  %b2 = view.expand %b1 [6, 32, 1024]
  %xb = add %x, %b2
  %sum = reduce.sum %xb [1, 2]
  %sum1 = view.reshape %sum [6, 1, 1]
  %sum2 = view.expand %sum1 [6, 32, 1024]
  %y = sub %xb, %sum2
  return y = %y
}
====
func argmax_long(x: f32[3, 5000]) -> (value, index) {
  %a = reduce.argmax %x [1]
  %value = result %a [0]
  %index = result %a [1]
  return value = %value, index = %index
}
====
func running_sum(x: f32[5, 700]) -> (y) {
  %y = scan.sum %x [1]
  return y = %y
}
====
func greatest_products(x: f32[5, 64], w: f32[5, 300, 64]) -> (y, m) {
  %p = contract %x, %w "ab,acb->ac" acc f32
  %m = reduce.max %p [1]
  return y = %p, m = %m
}
====
# numerics wide
func softmax_far_below_zero(x: f32[3, 5000]) -> (p) {
  %c = const f32 -1e9
  %c1 = view.reshape %c [1, 1]
  %c2 = view.expand %c1 [3, 5000]
  %far = add %x, %c2
  %max = reduce.max %far [1]
  %max1 = view.reshape %max [3, 1]
  %max2 = view.expand %max1 [3, 5000]
  %below = sub %far, %max2
  %exp = exp %below
  %sum = reduce.sum %exp [1]
  %sum1 = view.reshape %sum [3, 1]
  %sum2 = view.expand %sum1 [3, 5000]
  %p = div %exp, %sum2
  return p = %p
}
====
func spread(x: f32[8, 1]) -> (y) {
  %1 = exp %x
  %2 = cast.bf16 %1
  %3 = view.expand %2 [8, 512]
  %4 = neg %3
  return y = %4
}
====
func least_so_far_below_the_sum(x: f32[5, 700]) -> (y) {
  %s = scan.min %x [1]
  %t = reduce.sum %s [1]
  %t1 = view.reshape %t [5, 1]
  %t2 = view.expand %t1 [5, 700]
  %y = sub %s, %t2
  return y = %y
}
====
func stream_of_doubles(x: f64[133, 8200], a: f64[8200], b: f64[8200], c: f64[8200]) -> (y) {
  %s = reduce.sum %x [1]
  %s1 = view.reshape %s [133, 1]
  %s2 = view.expand %s1 [133, 8200]
  %d = sub %x, %s2
  %a1 = view.reshape %a [1, 8200]
  %a2 = view.expand %a1 [133, 8200]
  %b1 = view.reshape %b [1, 8200]
  %b2 = view.expand %b1 [133, 8200]
  %c1 = view.reshape %c [1, 8200]
  %c2 = view.expand %c1 [133, 8200]
  %m = mul %d, %a2
  %n = mul %m, %b2
  %y = add %n, %c2
  return y = %y
}
====
func f8_there_and_back(x: f32[3, 700], y: f8e4m3[2100], z: f8e5m2[3, 700]) -> (a, b, c, d) {
  %a = cast.f8e4m3 %x
  %b = cast.f8e5m2 %x
  %c = cast.f32 %y
  %w = cast.f32 %z
  %s = mul %w, %x
  %d = cast.f8e5m2 %s
  return a = %a, b = %b, c = %c, d = %d
}
====
func f8_product(x: f8e4m3[5, 100], w: f8e5m2[37, 100]) -> (y) {
  %p = contract %x, %w "ab,cb->ac" acc f32
  %y = cast.bf16 %p
  return y = %y
}
