test cuda
# a cluster finds mean and squared deviations of its row in one pass
# numerics wide
func layer_norm_64x65536(x: bf16[64, 65536], w: bf16[65536], b: bf16[65536]) -> (y) {
  %3 = cast.f32 %0 : f32[64, 65536]
  %4 = reduce.sum %3 [1] : f32[64]
  %5 = view.reshape %4 [64, 1] : f32[64, 1]
  %6 = const f32 65536.0 : f32[]
  %7 = view.reshape %6 [1, 1] : f32[1, 1]
  %8 = view.expand %7 [64, 1] : f32[64, 1]
  %9 = div %5, %8 : f32[64, 1]
  %10 = view.expand %9 [64, 65536] : f32[64, 65536]
  %11 = sub %3, %10 : f32[64, 65536]
  %12 = mul %11, %11 : f32[64, 65536]
  %13 = reduce.sum %12 [1] : f32[64]
  %14 = view.reshape %13 [64, 1] : f32[64, 1]
  %15 = const f32 0.0 : f32[]
  %16 = sub %6, %15 : f32[]
  %17 = max %16, %15 : f32[]
  %18 = view.reshape %17 [1, 1] : f32[1, 1]
  %19 = view.expand %18 [64, 1] : f32[64, 1]
  %20 = div %14, %19 : f32[64, 1]
  %21 = const f32 1e-5 : f32[]
  %22 = view.reshape %21 [1, 1] : f32[1, 1]
  %23 = view.expand %22 [64, 1] : f32[64, 1]
  %24 = add %20, %23 : f32[64, 1]
  %25 = rsqrt %24 : f32[64, 1]
  %26 = view.expand %25 [64, 65536] : f32[64, 65536]
  %27 = mul %11, %26 : f32[64, 65536]
  %28 = cast.f32 %1 : f32[65536]
  %29 = view.reshape %28 [1, 65536] : f32[1, 65536]
  %30 = view.expand %29 [64, 65536] : f32[64, 65536]
  %31 = mul %27, %30 : f32[64, 65536]
  %32 = cast.f32 %2 : f32[65536]
  %33 = view.reshape %32 [1, 65536] : f32[1, 65536]
  %34 = view.expand %33 [64, 65536] : f32[64, 65536]
  %35 = add %31, %34 : f32[64, 65536]
  %36 = cast.bf16 %35 : bf16[64, 65536]
  return y = %36
}
----
k0_cast_f32_sum_mul_sub_and_3
  p0: x bf16[4194304] Read
  p1: w bf16[65536] Read
  p2: b bf16[65536] Read
  p3: %31 bf16[4194304] Write
struct k_cast_f32_sum_mul_sub_and_3_words { u64 w[5]; };
extern "C" __global__ void __launch_bounds__(256) k_cast_f32_sum_mul_sub_and_3(const __grid_constant__ k_cast_f32_sum_mul_sub_and_3_words words) {
const u64* w = words.w; u64* fault = (u64*)w[4]; const u32 block = blockIdx.x;
bf16* p0 = (bf16*)w[0];
bf16* p1 = (bf16*)w[1];
bf16* p2 = (bf16*)w[2];
bf16* p3 = (bf16*)w[3];
constexpr int V = 8;
__shared__ Welford<float> m0[1 * 32];
__shared__ u64 b0[1];
if (threadIdx.x == 0) for (int i = 0; i < 1; ++i) meeting_begun(b0 + i, 32 * sizeof(Welford<float>));
cluster_arrive();
const int x = 0, g = (int)(block % 4) * 256 + (int)threadIdx.x, r = 0;
int q = (int)(block / 4) * 1 + x;
int a0 = q;
_Pragma("unroll 4") for (int i = 0, k = g; k < 8192; ++i, k += 1024) { {
int a1 = k * V;
copy_ahead(slot<bf16, V>(0, i * 256 + (int)threadIdx.x), p0, (a0 * 65536 + a1));
} }
copies_begun(); copies_done<0>();
cluster_wait();
Welford<float> y2;
y2 = Welford<float>::none();
_Pragma("unroll 4") for (int i = 0, k = g; k < 8192; ++i, k += 1024) { {
int a1 = k * V;
const Vec<bf16, V> r0 = *slot<bf16, V>(0, i * 256 + (int)threadIdx.x);
float v0[V]; LANES(j) v0[j] = up(r0.x[j]);
float v1[V]; LANES(j) v1[j] = (float)v0[j];
add_all<V>(y2, v1);
} }
y2 = across_cluster<4, 256>(y2, m0, b0, 0);
float v2a = (float)y2.a;
float v2b = (float)y2.b;
float v2c = (float)y2.c;
float v8 = (v2b * 1.5258789e-5f);
float v10 = (v8 + 1e-5f);
float v11 = s_rsqrt(v10);
_Pragma("unroll 4") for (int i = 0, k = g; k < 8192; ++i, k += 1024) { {
int a1 = k * V;
const Vec<bf16, V> r0 = *slot<bf16, V>(0, i * 256 + (int)threadIdx.x);
float v0[V]; LANES(j) v0[j] = up(r0.x[j]);
float v1[V]; LANES(j) v1[j] = (float)v0[j];
float v5[V]; LANES(j) v5[j] = (v1[j] - v2a);
float v12[V]; LANES(j) v12[j] = (v5[j] * v11);
Vec<bf16, V> r13;
r13 = load<bf16, V>(p1, (a1));
float v13[V]; LANES(j) v13[j] = up(r13.x[j]);
float v14[V]; LANES(j) v14[j] = (float)v13[j];
float v15[V]; LANES(j) v15[j] = (v12[j] * v14[j]);
Vec<bf16, V> r16;
r16 = load<bf16, V>(p2, (a1));
float v16[V]; LANES(j) v16[j] = up(r16.x[j]);
float v17[V]; LANES(j) v17[j] = (float)v16[j];
float v18[V]; LANES(j) v18[j] = (v15[j] + v17[j]);
const Vec<bf16, V> s3_1590 = packed<bf16>(v18);
store<bf16, V>(p3, (a0 * 65536 + a1), s3_1590);
} }
}
launch k_cast_f32_sum_mul_sub_and_3 <256 x 256> in clusters of 4 with 32768 bytes shared args [0, 1, 2, 3] numbers []
