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
  p2: partial2 f32[262144] ReadWrite
struct k_cast_f32_sum_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_cast_f32_sum(const __grid_constant__ k_cast_f32_sum_words words) {
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
bf16* p0 = (bf16*)w[0];
float* p2 = (float*)w[1];
constexpr int V = 8;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<float>) * 256]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 1, r = (int)threadIdx.x / 32;
int a2 = (u32)block / (u32)4;
int q = (int)((u32)block % (u32)4) * 32 + x;
int a0 = q * V;
Sum<float> y2[V];
UNROLL for (int j = 0; j < V; ++j) y2[j] = Sum<float>::none();
const int low = a2 * 16, high = least_of<int>(low + 16, 4096);
const int steps = (high - low) * 1;
int turn = 0;
_Pragma("unroll 4") for (int step = 0; step < steps; step += 8) {
int now = step + r; const bool live = now < steps; if (!live) now = 0;
int a1 = (low + now / 1);
Vec<bf16, V> r0;
r0 = load<bf16, V>(p0, (a0 + a1 * 1024));
float v0[V]; LANES(j) v0[j] = up(r0.x[j]);
float v1[V]; LANES(j) v1[j] = (float)v0[j];
{ {
if (live) LANES(j) y2[j].add(v1[j]);
} }
turn ^= 1; }
LANES(j) y2[j] = across_strided<8, 32, 256>(y2[j], scratch);
if (r == 0) {
LANES(j) p2[((a0 + j) + a2 * 1024)] = Down<float>::of(y2[j].a);
}
}
struct k_cast_f32_sum_finish_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(1024) k_cast_f32_sum_finish(const __grid_constant__ k_cast_f32_sum_finish_words words) {
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p2 = (float*)w[0];
float* p1 = (float*)w[1];
constexpr int V = 1;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<float>) * 1024]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 32, r = (int)threadIdx.x / 1024;
int q = (int)block * 32 + x;
int a0 = q;
Sum<float> y2;
y2 = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 256; k += 32) { {
int a2 = k;
{ Sum<float> o; o.a = up(p2[(a0 + a2 * 1024)]); y2.merge(o); }
} }
y2 = across_strided<32, 32, 1024>(y2, scratch);
float v2a = (float)y2.a;
if (g == 0) p1[(a0)] = Down<float>::of(v2a);
}
launch k_cast_f32_sum <1024 x 256> args [0, 2] numbers []
launch k_cast_f32_sum_finish <32 x 1024> args [2, 1] numbers []
