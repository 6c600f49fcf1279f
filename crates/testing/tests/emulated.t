# numerics wide
func softmax_registers(x: bf16[3, 4096]) -> (y) {
  %1 = cast.f32 %0 : f32[3, 4096]
  %2 = reduce.max %1 [1] : f32[3]
  %3 = view.reshape %2 [3, 1] : f32[3, 1]
  %4 = view.expand %3 [3, 4096] : f32[3, 4096]
  %5 = sub %1, %4 : f32[3, 4096]
  %6 = exp %5 : f32[3, 4096]
  %7 = reduce.sum %6 [1] : f32[3]
  %8 = view.reshape %7 [3, 1] : f32[3, 1]
  %9 = view.expand %8 [3, 4096] : f32[3, 4096]
  %10 = div %6, %9 : f32[3, 4096]
  %11 = cast.bf16 %10 : bf16[3, 4096]
  return y = %11
}
====
# numerics wide
func softmax_cluster(x: bf16[2, 40960]) -> (y) {
  %1 = cast.f32 %0 : f32[2, 40960]
  %2 = reduce.max %1 [1] : f32[2]
  %3 = view.reshape %2 [2, 1] : f32[2, 1]
  %4 = view.expand %3 [2, 40960] : f32[2, 40960]
  %5 = sub %1, %4 : f32[2, 40960]
  %6 = exp %5 : f32[2, 40960]
  %7 = reduce.sum %6 [1] : f32[2]
  %8 = view.reshape %7 [2, 1] : f32[2, 1]
  %9 = view.expand %8 [2, 40960] : f32[2, 40960]
  %10 = div %6, %9 : f32[2, 40960]
  %11 = cast.bf16 %10 : bf16[2, 40960]
  return y = %11
}
====
# clusters no
func softmax_one_block(x: bf16[2, 40960]) -> (y) {
  %1 = cast.f32 %0 : f32[2, 40960]
  %2 = reduce.max %1 [1] : f32[2]
  %3 = view.reshape %2 [2, 1] : f32[2, 1]
  %4 = view.expand %3 [2, 40960] : f32[2, 40960]
  %5 = sub %1, %4 : f32[2, 40960]
  %6 = exp %5 : f32[2, 40960]
  %7 = reduce.sum %6 [1] : f32[2]
  %8 = view.reshape %7 [2, 1] : f32[2, 1]
  %9 = view.expand %8 [2, 40960] : f32[2, 40960]
  %10 = div %6, %9 : f32[2, 40960]
  %11 = cast.bf16 %10 : bf16[2, 40960]
  return y = %11
}
====
# numerics wide
func layer_norm_cluster(x: bf16[2, 66560], w: bf16[66560], b: bf16[66560]) -> (y) {
  %3 = cast.f32 %0 : f32[2, 66560]
  %4 = reduce.sum %3 [1] : f32[2]
  %5 = view.reshape %4 [2, 1] : f32[2, 1]
  %6 = const f32 66560.0 : f32[]
  %7 = view.reshape %6 [1, 1] : f32[1, 1]
  %8 = view.expand %7 [2, 1] : f32[2, 1]
  %9 = div %5, %8 : f32[2, 1]
  %10 = view.expand %9 [2, 66560] : f32[2, 66560]
  %11 = sub %3, %10 : f32[2, 66560]
  %12 = mul %11, %11 : f32[2, 66560]
  %13 = reduce.sum %12 [1] : f32[2]
  %14 = view.reshape %13 [2, 1] : f32[2, 1]
  %15 = const f32 0.0 : f32[]
  %16 = sub %6, %15 : f32[]
  %17 = max %16, %15 : f32[]
  %18 = view.reshape %17 [1, 1] : f32[1, 1]
  %19 = view.expand %18 [2, 1] : f32[2, 1]
  %20 = div %14, %19 : f32[2, 1]
  %21 = const f32 1e-5 : f32[]
  %22 = view.reshape %21 [1, 1] : f32[1, 1]
  %23 = view.expand %22 [2, 1] : f32[2, 1]
  %24 = add %20, %23 : f32[2, 1]
  %25 = rsqrt %24 : f32[2, 1]
  %26 = view.expand %25 [2, 66560] : f32[2, 66560]
  %27 = mul %11, %26 : f32[2, 66560]
  %28 = cast.f32 %1 : f32[66560]
  %29 = view.reshape %28 [1, 66560] : f32[1, 66560]
  %30 = view.expand %29 [2, 66560] : f32[2, 66560]
  %31 = mul %27, %30 : f32[2, 66560]
  %32 = cast.f32 %2 : f32[66560]
  %33 = view.reshape %32 [1, 66560] : f32[1, 66560]
  %34 = view.expand %33 [2, 66560] : f32[2, 66560]
  %35 = add %31, %34 : f32[2, 66560]
  %36 = cast.bf16 %35 : bf16[2, 66560]
  return y = %36
}
====
func layer_norm_warps(x: bf16[5, 1000], w: bf16[1000], b: bf16[1000]) -> (y) {
  %3 = cast.f32 %0 : f32[5, 1000]
  %4 = reduce.sum %3 [1] : f32[5]
  %5 = view.reshape %4 [5, 1] : f32[5, 1]
  %6 = const f32 1000.0 : f32[]
  %7 = view.reshape %6 [1, 1] : f32[1, 1]
  %8 = view.expand %7 [5, 1] : f32[5, 1]
  %9 = div %5, %8 : f32[5, 1]
  %10 = view.expand %9 [5, 1000] : f32[5, 1000]
  %11 = sub %3, %10 : f32[5, 1000]
  %12 = mul %11, %11 : f32[5, 1000]
  %13 = reduce.sum %12 [1] : f32[5]
  %14 = view.reshape %13 [5, 1] : f32[5, 1]
  %15 = const f32 0.0 : f32[]
  %16 = sub %6, %15 : f32[]
  %17 = max %16, %15 : f32[]
  %18 = view.reshape %17 [1, 1] : f32[1, 1]
  %19 = view.expand %18 [5, 1] : f32[5, 1]
  %20 = div %14, %19 : f32[5, 1]
  %21 = const f32 1e-5 : f32[]
  %22 = view.reshape %21 [1, 1] : f32[1, 1]
  %23 = view.expand %22 [5, 1] : f32[5, 1]
  %24 = add %20, %23 : f32[5, 1]
  %25 = rsqrt %24 : f32[5, 1]
  %26 = view.expand %25 [5, 1000] : f32[5, 1000]
  %27 = mul %11, %26 : f32[5, 1000]
  %28 = cast.f32 %1 : f32[1000]
  %29 = view.reshape %28 [1, 1000] : f32[1, 1000]
  %30 = view.expand %29 [5, 1000] : f32[5, 1000]
  %31 = mul %27, %30 : f32[5, 1000]
  %32 = cast.f32 %2 : f32[1000]
  %33 = view.reshape %32 [1, 1000] : f32[1, 1000]
  %34 = view.expand %33 [5, 1000] : f32[5, 1000]
  %35 = add %31, %34 : f32[5, 1000]
  %36 = cast.bf16 %35 : bf16[5, 1000]
  return y = %36
}
====
# numerics wide
func residual_shared(x: bf16[3, 16384], r: bf16[3, 16384], w: bf16[16384], b: bf16[16384]) -> (s, y) {
  %4 = add %0, %1 : bf16[3, 16384]
  %5 = cast.f32 %4 : f32[3, 16384]
  %6 = reduce.sum %5 [1] : f32[3]
  %7 = view.reshape %6 [3, 1] : f32[3, 1]
  %8 = const f32 16384.0 : f32[]
  %9 = view.reshape %8 [1, 1] : f32[1, 1]
  %10 = view.expand %9 [3, 1] : f32[3, 1]
  %11 = div %7, %10 : f32[3, 1]
  %12 = view.expand %11 [3, 16384] : f32[3, 16384]
  %13 = sub %5, %12 : f32[3, 16384]
  %14 = mul %13, %13 : f32[3, 16384]
  %15 = reduce.sum %14 [1] : f32[3]
  %16 = view.reshape %15 [3, 1] : f32[3, 1]
  %17 = const f32 0.0 : f32[]
  %18 = sub %8, %17 : f32[]
  %19 = max %18, %17 : f32[]
  %20 = view.reshape %19 [1, 1] : f32[1, 1]
  %21 = view.expand %20 [3, 1] : f32[3, 1]
  %22 = div %16, %21 : f32[3, 1]
  %23 = const f32 1e-5 : f32[]
  %24 = view.reshape %23 [1, 1] : f32[1, 1]
  %25 = view.expand %24 [3, 1] : f32[3, 1]
  %26 = add %22, %25 : f32[3, 1]
  %27 = rsqrt %26 : f32[3, 1]
  %28 = view.expand %27 [3, 16384] : f32[3, 16384]
  %29 = mul %13, %28 : f32[3, 16384]
  %30 = cast.f32 %2 : f32[16384]
  %31 = view.reshape %30 [1, 16384] : f32[1, 16384]
  %32 = view.expand %31 [3, 16384] : f32[3, 16384]
  %33 = mul %29, %32 : f32[3, 16384]
  %34 = cast.f32 %3 : f32[16384]
  %35 = view.reshape %34 [1, 16384] : f32[1, 16384]
  %36 = view.expand %35 [3, 16384] : f32[3, 16384]
  %37 = add %33, %36 : f32[3, 16384]
  %38 = cast.bf16 %37 : bf16[3, 16384]
  return s = %4, y = %38
}
====
func residual_cluster(x: bf16[2, 40000], r: bf16[2, 40000], w: bf16[40000], b: bf16[40000]) -> (s, y) {
  %4 = add %0, %1 : bf16[2, 40000]
  %5 = cast.f32 %4 : f32[2, 40000]
  %6 = reduce.sum %5 [1] : f32[2]
  %7 = view.reshape %6 [2, 1] : f32[2, 1]
  %8 = const f32 40000.0 : f32[]
  %9 = view.reshape %8 [1, 1] : f32[1, 1]
  %10 = view.expand %9 [2, 1] : f32[2, 1]
  %11 = div %7, %10 : f32[2, 1]
  %12 = view.expand %11 [2, 40000] : f32[2, 40000]
  %13 = sub %5, %12 : f32[2, 40000]
  %14 = mul %13, %13 : f32[2, 40000]
  %15 = reduce.sum %14 [1] : f32[2]
  %16 = view.reshape %15 [2, 1] : f32[2, 1]
  %17 = const f32 0.0 : f32[]
  %18 = sub %8, %17 : f32[]
  %19 = max %18, %17 : f32[]
  %20 = view.reshape %19 [1, 1] : f32[1, 1]
  %21 = view.expand %20 [2, 1] : f32[2, 1]
  %22 = div %16, %21 : f32[2, 1]
  %23 = const f32 1e-5 : f32[]
  %24 = view.reshape %23 [1, 1] : f32[1, 1]
  %25 = view.expand %24 [2, 1] : f32[2, 1]
  %26 = add %22, %25 : f32[2, 1]
  %27 = rsqrt %26 : f32[2, 1]
  %28 = view.expand %27 [2, 40000] : f32[2, 40000]
  %29 = mul %13, %28 : f32[2, 40000]
  %30 = cast.f32 %2 : f32[40000]
  %31 = view.reshape %30 [1, 40000] : f32[1, 40000]
  %32 = view.expand %31 [2, 40000] : f32[2, 40000]
  %33 = mul %29, %32 : f32[2, 40000]
  %34 = cast.f32 %3 : f32[40000]
  %35 = view.reshape %34 [1, 40000] : f32[1, 40000]
  %36 = view.expand %35 [2, 40000] : f32[2, 40000]
  %37 = add %33, %36 : f32[2, 40000]
  %38 = cast.bf16 %37 : bf16[2, 40000]
  return s = %4, y = %38
}
====
# numerics wide
func backward_walk(x: bf16[70, 2048], dy: later bf16[70, 2048], w: later bf16[2048], mean: later f32[70, 1], rstd: later f32[70, 1]) -> (dx, dw, db) {
  %1 = cast.f32 %0 : f32[70, 2048]
  %2 = input dy : bf16[70, 2048]
  %3 = cast.f32 %2 : f32[70, 2048]
  %4 = input w : bf16[2048]
  %5 = cast.f32 %4 : f32[2048]
  %6 = input mean : f32[70, 1]
  %7 = input rstd : f32[70, 1]
  %8 = view.expand %6 [70, 2048] : f32[70, 2048]
  %9 = sub %1, %8 : f32[70, 2048]
  %10 = view.expand %7 [70, 2048] : f32[70, 2048]
  %11 = mul %9, %10 : f32[70, 2048]
  %12 = view.reshape %5 [1, 2048] : f32[1, 2048]
  %13 = view.expand %12 [70, 2048] : f32[70, 2048]
  %14 = mul %3, %13 : f32[70, 2048]
  %15 = mul %14, %11 : f32[70, 2048]
  %16 = reduce.sum %14 [1] : f32[70]
  %17 = view.reshape %16 [70, 1] : f32[70, 1]
  %18 = const f32 2048.0 : f32[]
  %19 = view.reshape %18 [1, 1] : f32[1, 1]
  %20 = view.expand %19 [70, 1] : f32[70, 1]
  %21 = div %17, %20 : f32[70, 1]
  %22 = reduce.sum %15 [1] : f32[70]
  %23 = view.reshape %22 [70, 1] : f32[70, 1]
  %24 = div %23, %20 : f32[70, 1]
  %25 = view.expand %21 [70, 2048] : f32[70, 2048]
  %26 = sub %14, %25 : f32[70, 2048]
  %27 = view.expand %24 [70, 2048] : f32[70, 2048]
  %28 = mul %11, %27 : f32[70, 2048]
  %29 = sub %26, %28 : f32[70, 2048]
  %30 = mul %29, %10 : f32[70, 2048]
  %31 = mul %3, %11 : f32[70, 2048]
  %32 = reduce.sum %31 [0] : f32[2048]
  %33 = reduce.sum %3 [0] : f32[2048]
  %34 = cast.bf16 %30 : bf16[70, 2048]
  %35 = cast.bf16 %32 : bf16[2048]
  %36 = cast.bf16 %33 : bf16[2048]
  return dx = %34, dw = %35, db = %36
}
====
# numerics wide
func backward_walkers(x: bf16[300, 256], dy: later bf16[300, 256], w: later bf16[256], mean: later f32[300, 1], rstd: later f32[300, 1]) -> (dx, dw, db) {
  %1 = cast.f32 %0 : f32[300, 256]
  %2 = input dy : bf16[300, 256]
  %3 = cast.f32 %2 : f32[300, 256]
  %4 = input w : bf16[256]
  %5 = cast.f32 %4 : f32[256]
  %6 = input mean : f32[300, 1]
  %7 = input rstd : f32[300, 1]
  %8 = view.expand %6 [300, 256] : f32[300, 256]
  %9 = sub %1, %8 : f32[300, 256]
  %10 = view.expand %7 [300, 256] : f32[300, 256]
  %11 = mul %9, %10 : f32[300, 256]
  %12 = view.reshape %5 [1, 256] : f32[1, 256]
  %13 = view.expand %12 [300, 256] : f32[300, 256]
  %14 = mul %3, %13 : f32[300, 256]
  %15 = mul %14, %11 : f32[300, 256]
  %16 = reduce.sum %14 [1] : f32[300]
  %17 = view.reshape %16 [300, 1] : f32[300, 1]
  %18 = const f32 256.0 : f32[]
  %19 = view.reshape %18 [1, 1] : f32[1, 1]
  %20 = view.expand %19 [300, 1] : f32[300, 1]
  %21 = div %17, %20 : f32[300, 1]
  %22 = reduce.sum %15 [1] : f32[300]
  %23 = view.reshape %22 [300, 1] : f32[300, 1]
  %24 = div %23, %20 : f32[300, 1]
  %25 = view.expand %21 [300, 256] : f32[300, 256]
  %26 = sub %14, %25 : f32[300, 256]
  %27 = view.expand %24 [300, 256] : f32[300, 256]
  %28 = mul %11, %27 : f32[300, 256]
  %29 = sub %26, %28 : f32[300, 256]
  %30 = mul %29, %10 : f32[300, 256]
  %31 = mul %3, %11 : f32[300, 256]
  %32 = reduce.sum %31 [0] : f32[256]
  %33 = reduce.sum %3 [0] : f32[256]
  %34 = cast.bf16 %30 : bf16[300, 256]
  %35 = cast.bf16 %32 : bf16[256]
  %36 = cast.bf16 %33 : bf16[256]
  return dx = %34, dw = %35, db = %36
}
====
# numerics wide
func backward_long(x: bf16[36, 16384], dy: later bf16[36, 16384], w: later bf16[16384], mean: later f32[36, 1], rstd: later f32[36, 1]) -> (dx, dw, db) {
  %1 = cast.f32 %0 : f32[36, 16384]
  %2 = input dy : bf16[36, 16384]
  %3 = cast.f32 %2 : f32[36, 16384]
  %4 = input w : bf16[16384]
  %5 = cast.f32 %4 : f32[16384]
  %6 = input mean : f32[36, 1]
  %7 = input rstd : f32[36, 1]
  %8 = view.expand %6 [36, 16384] : f32[36, 16384]
  %9 = sub %1, %8 : f32[36, 16384]
  %10 = view.expand %7 [36, 16384] : f32[36, 16384]
  %11 = mul %9, %10 : f32[36, 16384]
  %12 = view.reshape %5 [1, 16384] : f32[1, 16384]
  %13 = view.expand %12 [36, 16384] : f32[36, 16384]
  %14 = mul %3, %13 : f32[36, 16384]
  %15 = mul %14, %11 : f32[36, 16384]
  %16 = reduce.sum %14 [1] : f32[36]
  %17 = view.reshape %16 [36, 1] : f32[36, 1]
  %18 = const f32 16384.0 : f32[]
  %19 = view.reshape %18 [1, 1] : f32[1, 1]
  %20 = view.expand %19 [36, 1] : f32[36, 1]
  %21 = div %17, %20 : f32[36, 1]
  %22 = reduce.sum %15 [1] : f32[36]
  %23 = view.reshape %22 [36, 1] : f32[36, 1]
  %24 = div %23, %20 : f32[36, 1]
  %25 = view.expand %21 [36, 16384] : f32[36, 16384]
  %26 = sub %14, %25 : f32[36, 16384]
  %27 = view.expand %24 [36, 16384] : f32[36, 16384]
  %28 = mul %11, %27 : f32[36, 16384]
  %29 = sub %26, %28 : f32[36, 16384]
  %30 = mul %29, %10 : f32[36, 16384]
  %31 = mul %3, %11 : f32[36, 16384]
  %32 = reduce.sum %31 [0] : f32[16384]
  %33 = reduce.sum %3 [0] : f32[16384]
  %34 = cast.bf16 %30 : bf16[36, 16384]
  %35 = cast.bf16 %32 : bf16[16384]
  %36 = cast.bf16 %33 : bf16[16384]
  return dx = %34, dw = %35, db = %36
}
====
# numerics wide
func backward_cluster(x: bf16[70, 32768], dy: later bf16[70, 32768], w: later bf16[32768], mean: later f32[70, 1], rstd: later f32[70, 1]) -> (dx, dw, db) {
  %1 = cast.f32 %0 : f32[70, 32768]
  %2 = input dy : bf16[70, 32768]
  %3 = cast.f32 %2 : f32[70, 32768]
  %4 = input w : bf16[32768]
  %5 = cast.f32 %4 : f32[32768]
  %6 = input mean : f32[70, 1]
  %7 = input rstd : f32[70, 1]
  %8 = view.expand %6 [70, 32768] : f32[70, 32768]
  %9 = sub %1, %8 : f32[70, 32768]
  %10 = view.expand %7 [70, 32768] : f32[70, 32768]
  %11 = mul %9, %10 : f32[70, 32768]
  %12 = view.reshape %5 [1, 32768] : f32[1, 32768]
  %13 = view.expand %12 [70, 32768] : f32[70, 32768]
  %14 = mul %3, %13 : f32[70, 32768]
  %15 = mul %14, %11 : f32[70, 32768]
  %16 = reduce.sum %14 [1] : f32[70]
  %17 = view.reshape %16 [70, 1] : f32[70, 1]
  %18 = const f32 32768.0 : f32[]
  %19 = view.reshape %18 [1, 1] : f32[1, 1]
  %20 = view.expand %19 [70, 1] : f32[70, 1]
  %21 = div %17, %20 : f32[70, 1]
  %22 = reduce.sum %15 [1] : f32[70]
  %23 = view.reshape %22 [70, 1] : f32[70, 1]
  %24 = div %23, %20 : f32[70, 1]
  %25 = view.expand %21 [70, 32768] : f32[70, 32768]
  %26 = sub %14, %25 : f32[70, 32768]
  %27 = view.expand %24 [70, 32768] : f32[70, 32768]
  %28 = mul %11, %27 : f32[70, 32768]
  %29 = sub %26, %28 : f32[70, 32768]
  %30 = mul %29, %10 : f32[70, 32768]
  %31 = mul %3, %11 : f32[70, 32768]
  %32 = reduce.sum %31 [0] : f32[32768]
  %33 = reduce.sum %3 [0] : f32[32768]
  %34 = cast.bf16 %30 : bf16[70, 32768]
  %35 = cast.bf16 %32 : bf16[32768]
  %36 = cast.bf16 %33 : bf16[32768]
  return dx = %34, dw = %35, db = %36
}
====
# clusters no
func backward_without_clusters(x: bf16[70, 8192], dy: later bf16[70, 8192], w: later bf16[8192], mean: later f32[70, 1], rstd: later f32[70, 1]) -> (dx, dw, db) {
  %1 = cast.f32 %0 : f32[70, 8192]
  %2 = input dy : bf16[70, 8192]
  %3 = cast.f32 %2 : f32[70, 8192]
  %4 = input w : bf16[8192]
  %5 = cast.f32 %4 : f32[8192]
  %6 = input mean : f32[70, 1]
  %7 = input rstd : f32[70, 1]
  %8 = view.expand %6 [70, 8192] : f32[70, 8192]
  %9 = sub %1, %8 : f32[70, 8192]
  %10 = view.expand %7 [70, 8192] : f32[70, 8192]
  %11 = mul %9, %10 : f32[70, 8192]
  %12 = view.reshape %5 [1, 8192] : f32[1, 8192]
  %13 = view.expand %12 [70, 8192] : f32[70, 8192]
  %14 = mul %3, %13 : f32[70, 8192]
  %15 = mul %14, %11 : f32[70, 8192]
  %16 = reduce.sum %14 [1] : f32[70]
  %17 = view.reshape %16 [70, 1] : f32[70, 1]
  %18 = const f32 8192.0 : f32[]
  %19 = view.reshape %18 [1, 1] : f32[1, 1]
  %20 = view.expand %19 [70, 1] : f32[70, 1]
  %21 = div %17, %20 : f32[70, 1]
  %22 = reduce.sum %15 [1] : f32[70]
  %23 = view.reshape %22 [70, 1] : f32[70, 1]
  %24 = div %23, %20 : f32[70, 1]
  %25 = view.expand %21 [70, 8192] : f32[70, 8192]
  %26 = sub %14, %25 : f32[70, 8192]
  %27 = view.expand %24 [70, 8192] : f32[70, 8192]
  %28 = mul %11, %27 : f32[70, 8192]
  %29 = sub %26, %28 : f32[70, 8192]
  %30 = mul %29, %10 : f32[70, 8192]
  %31 = mul %3, %11 : f32[70, 8192]
  %32 = reduce.sum %31 [0] : f32[8192]
  %33 = reduce.sum %3 [0] : f32[8192]
  %34 = cast.bf16 %30 : bf16[70, 8192]
  %35 = cast.bf16 %32 : bf16[8192]
  %36 = cast.bf16 %33 : bf16[8192]
  return dx = %34, dw = %35, db = %36
}
====
# numerics wide
func cross_entropy_gradient_cluster(logits: bf16[6, 40000], target: i64[6]) -> (loss, dlogits) {
  %2 = cast.f32 %0 : f32[6, 40000]
  %3 = reduce.max %2 [1] : f32[6]
  %4 = view.reshape %3 [6, 1] : f32[6, 1]
  %5 = view.expand %4 [6, 40000] : f32[6, 40000]
  %6 = sub %2, %5 : f32[6, 40000]
  %7 = exp %6 : f32[6, 40000]
  %8 = reduce.sum %7 [1] : f32[6]
  %9 = view.reshape %8 [6, 1] : f32[6, 1]
  %10 = log %9 : f32[6, 1]
  %11 = view.expand %10 [6, 40000] : f32[6, 40000]
  %12 = sub %6, %11 : f32[6, 40000]
  %13 = view.reshape %1 [6, 1] : i64[6, 1]
  %14 = gather %12, %13 [1] : f32[6, 1]
  %15 = view.reshape %14 [6] : f32[6]
  %16 = neg %15 : f32[6]
  %17 = reduce.sum %16 [0] : f32[]
  %18 = const f32 6.0 : f32[]
  %19 = div %17, %18 : f32[]
  %20 = exp %12 : f32[6, 40000]
  %21 = iota 40000 : i64[40000]
  %22 = view.expand %13 [6, 40000] : i64[6, 40000]
  %23 = view.reshape %21 [1, 40000] : i64[1, 40000]
  %24 = view.expand %23 [6, 40000] : i64[6, 40000]
  %25 = eq %22, %24 : bool[6, 40000]
  %26 = cast.f32 %25 : f32[6, 40000]
  %27 = sub %20, %26 : f32[6, 40000]
  %28 = const f32 0.00012207031 : f32[]
  %29 = view.reshape %28 [1, 1] : f32[1, 1]
  %30 = view.expand %29 [6, 40000] : f32[6, 40000]
  %31 = mul %27, %30 : f32[6, 40000]
  %32 = cast.bf16 %31 : bf16[6, 40000]
  return loss = %19, dlogits = %32
}
====
# numerics wide
func cross_entropy_gradient_small(logits: bf16[9, 1000], target: i64[9]) -> (loss, dlogits) {
  %2 = cast.f32 %0 : f32[9, 1000]
  %3 = reduce.max %2 [1] : f32[9]
  %4 = view.reshape %3 [9, 1] : f32[9, 1]
  %5 = view.expand %4 [9, 1000] : f32[9, 1000]
  %6 = sub %2, %5 : f32[9, 1000]
  %7 = exp %6 : f32[9, 1000]
  %8 = reduce.sum %7 [1] : f32[9]
  %9 = view.reshape %8 [9, 1] : f32[9, 1]
  %10 = log %9 : f32[9, 1]
  %11 = view.expand %10 [9, 1000] : f32[9, 1000]
  %12 = sub %6, %11 : f32[9, 1000]
  %13 = view.reshape %1 [9, 1] : i64[9, 1]
  %14 = gather %12, %13 [1] : f32[9, 1]
  %15 = view.reshape %14 [9] : f32[9]
  %16 = neg %15 : f32[9]
  %17 = reduce.sum %16 [0] : f32[]
  %18 = const f32 9.0 : f32[]
  %19 = div %17, %18 : f32[]
  %20 = exp %12 : f32[9, 1000]
  %21 = iota 1000 : i64[1000]
  %22 = view.expand %13 [9, 1000] : i64[9, 1000]
  %23 = view.reshape %21 [1, 1000] : i64[1, 1000]
  %24 = view.expand %23 [9, 1000] : i64[9, 1000]
  %25 = eq %22, %24 : bool[9, 1000]
  %26 = cast.f32 %25 : f32[9, 1000]
  %27 = sub %20, %26 : f32[9, 1000]
  %28 = const f32 0.00012207031 : f32[]
  %29 = view.reshape %28 [1, 1] : f32[1, 1]
  %30 = view.expand %29 [9, 1000] : f32[9, 1000]
  %31 = mul %27, %30 : f32[9, 1000]
  %32 = cast.bf16 %31 : bf16[9, 1000]
  return loss = %19, dlogits = %32
}
====
# numerics wide
func cross_entropy_walk(logits: bf16[40, 5000], target: i64[40]) -> (loss) {
  %2 = cast.f32 %0 : f32[40, 5000]
  %3 = reduce.max %2 [1] : f32[40]
  %4 = view.reshape %3 [40, 1] : f32[40, 1]
  %5 = view.expand %4 [40, 5000] : f32[40, 5000]
  %6 = sub %2, %5 : f32[40, 5000]
  %7 = exp %6 : f32[40, 5000]
  %8 = reduce.sum %7 [1] : f32[40]
  %9 = view.reshape %8 [40, 1] : f32[40, 1]
  %10 = log %9 : f32[40, 1]
  %11 = view.expand %10 [40, 5000] : f32[40, 5000]
  %12 = sub %6, %11 : f32[40, 5000]
  %13 = view.reshape %1 [40, 1] : i64[40, 1]
  %14 = gather %12, %13 [1] : f32[40, 1]
  %15 = view.reshape %14 [40] : f32[40]
  %16 = neg %15 : f32[40]
  %17 = reduce.sum %16 [0] : f32[]
  %18 = const f32 40.0 : f32[]
  %19 = div %17, %18 : f32[]
  return loss = %19
}
====
func transpose_tiles(x: bf16[200, 200]) -> (y) {
  %1 = view.permute %0 [1, 0] : bf16[200, 200]
  %2 = materialize %1 : bf16[200, 200]
  return y = %2
}
====
func sum_all(x: bf16[700, 700]) -> (y) {
  %1 = reduce.sum %0 [0, 1] : bf16[]
  return y = %1
}
====
func sum_columns(x: f32[1024, 1024]) -> (y) {
  %1 = reduce.sum %0 [0] : f32[1024]
  return y = %1
}
====
func sum_few_columns(x: f32[4096, 96]) -> (y) {
  %1 = reduce.sum %0 [0] : f32[96]
  return y = %1
}
====
# numerics wide
func ten_ops(x: f16[64, 64]) -> (y) {
  %1 = tanh %0 : f16[64, 64]
  %2 = const f16 1.0097656 : f16[]
  %3 = view.reshape %2 [1, 1] : f16[1, 1]
  %4 = view.expand %3 [64, 64] : f16[64, 64]
  %5 = mul %1, %4 : f16[64, 64]
  %6 = tanh %5 : f16[64, 64]
  %7 = mul %6, %4 : f16[64, 64]
  %8 = tanh %7 : f16[64, 64]
  %9 = mul %8, %4 : f16[64, 64]
  %10 = tanh %9 : f16[64, 64]
  %11 = mul %10, %4 : f16[64, 64]
  %12 = tanh %11 : f16[64, 64]
  %13 = mul %12, %4 : f16[64, 64]
  return y = %13
}
====
# numerics wide
func bias_gelu(x: f16[72, 72], bias: f16[72]) -> (y) {
  %2 = view.reshape %1 [1, 72] : f16[1, 72]
  %3 = view.expand %2 [72, 72] : f16[72, 72]
  %4 = add %0, %3 : f16[72, 72]
  %5 = cast.f32 %4 : f32[72, 72]
  %6 = const f32 0.70710677 : f32[]
  %7 = view.reshape %6 [1, 1] : f32[1, 1]
  %8 = view.expand %7 [72, 72] : f32[72, 72]
  %9 = mul %5, %8 : f32[72, 72]
  %10 = erf %9 : f32[72, 72]
  %11 = const f32 1.0 : f32[]
  %12 = view.reshape %11 [1, 1] : f32[1, 1]
  %13 = view.expand %12 [72, 72] : f32[72, 72]
  %14 = add %10, %13 : f32[72, 72]
  %15 = const f32 0.5 : f32[]
  %16 = view.reshape %15 [1, 1] : f32[1, 1]
  %17 = view.expand %16 [72, 72] : f32[72, 72]
  %18 = mul %5, %17 : f32[72, 72]
  %19 = mul %18, %14 : f32[72, 72]
  %20 = cast.f16 %19 : f16[72, 72]
  %21 = const f16 0.5 : f16[]
  %22 = view.reshape %21 [1, 1] : f16[1, 1]
  %23 = view.expand %22 [72, 72] : f16[72, 72]
  %24 = mul %20, %23 : f16[72, 72]
  %25 = const f16 0.099975586 : f16[]
  %26 = view.reshape %25 [1, 1] : f16[1, 1]
  %27 = view.expand %26 [72, 72] : f16[72, 72]
  %28 = add %24, %27 : f16[72, 72]
  return y = %28
}
====
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
