test cuda
# rows in pieces: blocks take whole chunks of a thread's
func f(x: f32[16, 1000000]) {
  %y = reduce.sum %x [1]
  return y = %y
}
----
k0_sum
  p0: x f32[16000000] Read
  p1: %1 f32[16] Write
  p2: partial2 f32[1056] ReadWrite
struct k_sum_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_sum(const __grid_constant__ k_sum_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p2 = (float*)w[1];
constexpr int V = 4;
__shared__ Sum<float> m0[2 * 8];
const int x = 0, g = (int)threadIdx.x % 1, r = (int)threadIdx.x / 1;
int a2 = (u32)block / (u32)16;
int q = (int)((u32)block % (u32)16) * 1 + x;
int a0 = q;
Sum<float> y1;
y1 = Sum<float>::none();
int turn = 0;
_Pragma("unroll 4") for (int step = a2 * 256; step < 250000; step += 256 * 66) {
int now = step + r; const bool live = now < 250000; if (!live) now = 0;
int a1 = now * V;
Vec<float, V> r0;
r0 = load<float, V>(p0, (a0 * 1000000 + a1));
float v0[V]; unpack(v0, r0);
{ {
if (live) add_all<V>(y1, v0);
} }
turn ^= 1; }
y1 = across<256, 256>(y1, m0 + turn * 8);
if (r == 0) {
p2[(a0 + a2 * 16)] = Down<float>::of(y1.a);
}
}
struct k_sum_finish_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(1024) k_sum_finish(const __grid_constant__ k_sum_finish_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p2 = (float*)w[0];
float* p1 = (float*)w[1];
constexpr int V = 1;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<float>) * 1024]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 16, g = (int)threadIdx.x / 16 % 64, r = (int)threadIdx.x / 1024;
int q = (int)block * 16 + x;
int a0 = q;
Sum<float> y1;
y1 = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 66; k += 64) { {
int a2 = k;
{ Sum<float> o; o.a = up(p2[(a0 + a2 * 16)]); y1.merge(o); }
} }
y1 = across_strided<64, 16, 1024>(y1, scratch);
float v1a = (float)y1.a;
if (g == 0) p1[(a0)] = Down<float>::of(v1a);
}
launch k_sum <1056 x 256> args [0, 2] numbers []
launch k_sum_finish <1 x 1024> args [2, 1] numbers []
