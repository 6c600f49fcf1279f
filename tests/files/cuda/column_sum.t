test cuda
# a sum down the columns: blocks of rows, then their partial sums
func column_sum(x: bf16[4096, 1024]) -> (s) {
  %wide = cast.f32 %x
  %s = reduce.sum %wide [0]
  return s = %s
}
----
k0_cast_f32_sum
  p0: x bf16[4194304] Read
  p1: %2 f32[1024] Write
struct k_cast_f32_sum_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(1024) k_cast_f32_sum(const __grid_constant__ k_cast_f32_sum_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
bf16* p0 = (bf16*)w[0];
float* p1 = (float*)w[1];
constexpr int V = 8;
__shared__ Sum<float> m0[1 * V * 32];
const int x = (int)threadIdx.x % 1, g = (int)threadIdx.x / 1 % 1024, r = (int)threadIdx.x / 1024;
int q = (int)block * 1 + x;
int a0 = q * V;
Sum<float> y2[V];
UNROLL for (int j = 0; j < V; ++j) y2[j] = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 4096; k += 1024) { {
int a1 = k;
Vec<bf16, V> r0;
r0 = load<bf16, V>(p0, (a0 + a1 * 1024));
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = (float)v0[j];
LANES(j) y2[j].add(v1[j]);
} }
across_all<1024, 1024>(y2, m0);
float v2a[V]; LANES(j) v2a[j] = (float)y2[j].a;
if (g == 0) store<float, V>(p1, (a0), packed<float>(v2a));
}
launch k_cast_f32_sum <128 x 1024> args [0, 1] numbers []
