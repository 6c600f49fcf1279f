test cuda
# a reduction to one number, and what follows it
func mean(x: f32[4096, 1024]) -> (m) {
  %s = reduce.sum %x [0, 1]
  %n = const f32 4194304.0
  %m = div %s, %n
  return m = %m
}
----
k0_sum_mul
  p0: x f32[4194304] Read
  p1: %3 f32[1] Write
  p2: partial2 f32[1024] ReadWrite
struct k_sum_mul_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_sum_mul(const __grid_constant__ k_sum_mul_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p2 = (float*)w[1];
constexpr int V = 4;
__shared__ Sum<float> m0[2 * 8];
const int x = 0, g = (int)threadIdx.x % 1, r = (int)threadIdx.x / 1;
int a2 = (u32)block / (u32)1;
int q = (int)((u32)block % (u32)1) * 1 + x;
Sum<float> y1;
y1 = Sum<float>::none();
int turn = 0;
_Pragma("unroll 4") for (int step = a2 * 256; step < 1048576; step += 256 * 1024) {
int now = step + r; const bool live = now < 1048576; if (!live) now = 0;
int a1 = now * V;
Vec<float, V> r0;
r0 = load<float, V>(p0, (a1));
float v0[V]; unpack(v0, r0);
{ {
if (live) add_all<V>(y1, v0);
} }
turn ^= 1; }
y1 = across<256, 256>(y1, m0 + turn * 8);
if (r == 0) {
p2[(a2)] = Down<float>::of(y1.a);
}
}
struct k_sum_mul_finish_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(64) k_sum_mul_finish(const __grid_constant__ k_sum_mul_finish_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p2 = (float*)w[0];
float* p1 = (float*)w[1];
constexpr int V = 4;
__shared__ Sum<float> m0[1 * 2];
const int x = (int)threadIdx.x / 64, g = (int)threadIdx.x % 64, r = 0;
int q = (int)block * 1 + x;
Sum<float> y1;
y1 = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 256; k += 64) { {
int a2 = k * V;
LANES(j) { Sum<float> o; o.a = up(p2[((a2 + j))]); y1.merge(o); }
} }
y1 = across<64, 64>(y1, m0);
float v1a = (float)y1.a;
float v3 = (v1a * 2.3841858e-7f);
if (g == 0) p1[(0)] = Down<float>::of(v3);
}
launch k_sum_mul <1024 x 256> args [0, 2] numbers []
launch k_sum_mul_finish <1 x 64> args [2, 1] numbers []
