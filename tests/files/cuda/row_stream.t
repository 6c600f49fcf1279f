test cuda
# clusters take row after row and read ahead; mean and squared deviations are found in one pass, so that states meet once
# numerics wide
func layer_norm_264x65536(x: bf16[264, 65536], w: bf16[65536], b: bf16[65536]) -> (y) {
  %3 = cast.f32 %0 : f32[264, 65536]
  %4 = reduce.sum %3 [1] : f32[264]
  %5 = view.reshape %4 [264, 1] : f32[264, 1]
  %6 = const f32 65536.0 : f32[]
  %7 = view.reshape %6 [1, 1] : f32[1, 1]
  %8 = view.expand %7 [264, 1] : f32[264, 1]
  %9 = div %5, %8 : f32[264, 1]
  %10 = view.expand %9 [264, 65536] : f32[264, 65536]
  %11 = sub %3, %10 : f32[264, 65536]
  %12 = mul %11, %11 : f32[264, 65536]
  %13 = reduce.sum %12 [1] : f32[264]
  %14 = view.reshape %13 [264, 1] : f32[264, 1]
  %15 = const f32 0.0 : f32[]
  %16 = sub %6, %15 : f32[]
  %17 = max %16, %15 : f32[]
  %18 = view.reshape %17 [1, 1] : f32[1, 1]
  %19 = view.expand %18 [264, 1] : f32[264, 1]
  %20 = div %14, %19 : f32[264, 1]
  %21 = const f32 1e-5 : f32[]
  %22 = view.reshape %21 [1, 1] : f32[1, 1]
  %23 = view.expand %22 [264, 1] : f32[264, 1]
  %24 = add %20, %23 : f32[264, 1]
  %25 = rsqrt %24 : f32[264, 1]
  %26 = view.expand %25 [264, 65536] : f32[264, 65536]
  %27 = mul %11, %26 : f32[264, 65536]
  %28 = cast.f32 %1 : f32[65536]
  %29 = view.reshape %28 [1, 65536] : f32[1, 65536]
  %30 = view.expand %29 [264, 65536] : f32[264, 65536]
  %31 = mul %27, %30 : f32[264, 65536]
  %32 = cast.f32 %2 : f32[65536]
  %33 = view.reshape %32 [1, 65536] : f32[1, 65536]
  %34 = view.expand %33 [264, 65536] : f32[264, 65536]
  %35 = add %31, %34 : f32[264, 65536]
  %36 = cast.bf16 %35 : bf16[264, 65536]
  return y = %36
}
----
k0_cast_f32_sum_mul_sub_and_3
  p0: x bf16[17301504] Read
  p1: w bf16[65536] Read
  p2: b bf16[65536] Read
  p3: %31 bf16[17301504] Write
struct k_cast_f32_sum_mul_sub_and_3_words { u64 w[5]; };
extern "C" __global__ void __launch_bounds__(512) k_cast_f32_sum_mul_sub_and_3(const __grid_constant__ k_cast_f32_sum_mul_sub_and_3_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[4]; const u32 block = blockIdx.x;
bf16* p1 = (bf16*)w[0];
bf16* p2 = (bf16*)w[1];
bf16* p0 = (bf16*)w[2];
bf16* p3 = (bf16*)w[3];
constexpr int V = 8;
__shared__ Welford<float> m0[4 * 2];
__shared__ Welford<float> s0[4 * 16];
__shared__ u64 b0[4];
if (threadIdx.x == 0) for (int i = 0; i < 4; ++i) meeting_begun(b0 + i, 2 * sizeof(Welford<float>));
cluster_arrive();
const int x = 0, g = (int)(block % 2) * 512 + (int)threadIdx.x, r = 0;
Vec<bf16, V> c13[8];
Vec<bf16, V> c16[8];
UNROLL for (int i = 0; i < 8; ++i) { const int k = g + i * 1024; {
int a1 = k * V;
c13[i] = load<bf16, V>(p1, (a1));
c16[i] = load<bf16, V>(p2, (a1));
} }
for (int here = 0; here <= 2; ++here) { if (int q = (int)(block / 2) + here * (int)(gridDim.x / 2); q < 264) {
int a0 = q;
UNROLL for (int i = 0; i < 8; ++i) { const int k = g + i * 1024; {
int a1 = k * V;
copy_ahead(slot<bf16, V>(0 + (here) * 65536, i * 512 + (int)threadIdx.x), p0, (a0 * 65536 + a1));
} }
}
copies_begun(); }
cluster_wait();
int ring = 0, n = 0;
for (int row = (int)(block / 2); ; row += (int)(gridDim.x / 2), ++n) {
if (row < 264) {
copies_done<1>();
const int turn = n, here = ring; int q = row;
int a0 = q;
Welford<float> y2;
y2 = Welford<float>::none();
Shifted<float> d2;
d2 = Shifted<float>::none();
UNROLL for (int i = 0; i < 8; ++i) { const int k = g + i * 1024; {
int a1 = k * V;
const Vec<bf16, V> r0 = *slot<bf16, V>(0 + (here) * 65536, i * 512 + (int)threadIdx.x);
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = (float)v0[j];
add_all<V>(d2, v1);
} }
y2 = d2.state();
to_cluster<2, 512>(y2, s0 + (turn & 3) * 16, m0 + (turn & 3) * 2, b0 + (turn & 3), turn);
}
if (n > 0) {
const int turn = n - 1, here = ring == 0 ? 2 : ring - 1; int q = row - (int)(gridDim.x / 2);
const int next = row + 2 * (int)(gridDim.x / 2);
int a0 = q;
Welford<float> y2;
y2 = Welford<float>::none();
y2 = from_cluster<2>(m0 + (turn & 3) * 2, b0 + (turn & 3), turn >> 2 & 1);
float v2a = (float)y2.a;
float v2b = (float)y2.b;
float v2c = (float)y2.c;
float v8 = (v2b * 1.5258789e-5f);
float v10 = (v8 + 1e-5f);
float v11 = s_rsqrt(v10);
UNROLL for (int i = 0; i < 8; ++i) { const int k = g + i * 1024; {
int a1 = k * V;
const Vec<bf16, V> r0 = *slot<bf16, V>(0 + (here) * 65536, i * 512 + (int)threadIdx.x);
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = (float)v0[j];
float v5[V]; LANES(j) v5[j] = (v1[j] - v2a);
float v12[V]; LANES(j) v12[j] = (v5[j] * v11);
const Vec<bf16, V> r13 = c13[i];
float v13[V]; unpack(v13, r13);
float v14[V]; LANES(j) v14[j] = (float)v13[j];
float v15[V]; LANES(j) v15[j] = (v12[j] * v14[j]);
const Vec<bf16, V> r16 = c16[i];
float v16[V]; unpack(v16, r16);
float v17[V]; LANES(j) v17[j] = (float)v16[j];
float v18[V]; LANES(j) v18[j] = (v15[j] + v17[j]);
store<bf16, V>(p3, (a0 * 65536 + a1), packed<bf16>(v18));
if (int q = next; q < 264) {
int a0 = q;
copy_ahead(slot<bf16, V>(0 + (here) * 65536, i * 512 + (int)threadIdx.x), p0, (a0 * 65536 + a1));
}
} }
copies_begun();
}
if (row >= 264) break;
ring = ring == 2 ? 0 : ring + 1;
}
}
launch k_cast_f32_sum_mul_sub_and_3 <528 x 512> in clusters of 2 with 196608 bytes shared args [1, 2, 0, 3] numbers []
