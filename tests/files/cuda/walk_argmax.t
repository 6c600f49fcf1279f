test cuda
# states of 16 bytes that live across a walk
func f(x: f32[2048, 768]) {
  %s = reduce.sum %x [1]
  %s1 = view.reshape %s [2048, 1]
  %s2 = view.expand %s1 [2048, 768]
  %y = mul %x, %s2
  %w = reduce.argmax %x [0]
  %a = result %w [1]
  return y = %y, a = %a
}
----
k0_sum_mul_argmax
  p0: x f32[1572864] Read
  p1: %4 f32[1572864] Write
  p2: %6 i64[768] Write
  p3: partial3 f32[196608] ReadWrite
  p4: partial4 i64[196608] ReadWrite
struct k_sum_mul_argmax_words { u64 w[5]; };
extern "C" __global__ void __launch_bounds__(256) k_sum_mul_argmax(const __grid_constant__ k_sum_mul_argmax_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[4]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
float* p3 = (float*)w[2];
i64* p4 = (i64*)w[3];
constexpr int V = 4;
union alignas(16) Scratch { char one[16]; char s0[sizeof(ArgMax<float>) * 256 * at_once<ArgMax<float>, 256, V>()]; };
__shared__ Scratch scratch[1];
__shared__ Sum<float> m0[2 * 8];
const int x = 0, g = (int)threadIdx.x % 64, r = (int)threadIdx.x / 64;
int a2 = (u32)block / (u32)1;
int q = (int)((u32)block % (u32)1) * 1 + x;
ArgMax<float> y4[3][V];
UNROLL for (int i = 0; i < 3; ++i) UNROLL for (int j = 0; j < V; ++j) y4[i][j] = ArgMax<float>::none();
const int low = a2 * 8, high = least_of<int>(low + 8, 2048);
const int steps = (high - low) * 1;
{ const int first = r < steps ? r : 0;
int a0 = (low + first / 1);
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
copy_ahead(slot<float, V>(0, i * 256 + (int)threadIdx.x), p0, (a0 * 768 + a1));
} }
copies_begun(); }
int turn = 0;
for (int step = 0; step < steps; step += 4) {
int now = step + r; const bool live = now < steps; if (!live) now = 0;
if (const int next = step + 4 + r; next < steps) {
int a0 = (low + next / 1);
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
copy_ahead(slot<float, V>(0 + (turn ^ 1) * 12288, i * 256 + (int)threadIdx.x), p0, (a0 * 768 + a1));
} }
}
copies_begun(); copies_done<1>();
int a0 = (low + now / 1);
i64 v3 = (a0);
Sum<float> y1;
y1 = Sum<float>::none();
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
const Vec<float, V> r0 = *slot<float, V>(0 + (turn) * 12288, i * 256 + (int)threadIdx.x);
float v0[V]; unpack(v0, r0);
add_all<V>(y1, v0);
if (live) LANES(j) y4[i][j].add(v0[j], v3);
} }
y1 = across<64, 256>(y1, m0 + turn * 8);
float v1a = (float)y1.a;
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
const Vec<float, V> r0 = *slot<float, V>(0 + (turn) * 12288, i * 256 + (int)threadIdx.x);
float v0[V]; unpack(v0, r0);
float v2[V]; LANES(j) v2[j] = (v0[j] * v1a);
if (live) store<float, V>(p1, (a0 * 768 + a1), packed<float>(v2));
} }
turn ^= 1; }
UNROLL for (int i = 0; i < 3; ++i) across_walkers<4, 64, 256>(y4[i], scratch);
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
if (r == 0) { Vec<float, V> all; LANES(j) all.x[j] = Down<float>::of(y4[i][j].a); store<float, V>(p3, (a1 + a2 * 768), all); }
if (r == 0) { Vec<i64, V> all; LANES(j) all.x[j] = Down<i64>::of(y4[i][j].b); store<i64, V>(p4, (a1 + a2 * 768), all); }
} }
}
struct k_sum_mul_argmax_finish_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(1024) k_sum_mul_argmax_finish(const __grid_constant__ k_sum_mul_argmax_finish_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p3 = (float*)w[0];
i64* p4 = (i64*)w[1];
i64* p2 = (i64*)w[2];
constexpr int V = 1;
union alignas(16) Scratch { char one[16]; char s0[sizeof(ArgMax<float>) * 1024]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 32, r = (int)threadIdx.x / 1024;
int q = (int)block * 32 + x;
int a1 = q;
ArgMax<float> y4;
y4 = ArgMax<float>::none();
_Pragma("unroll 4") for (int k = g; k < 256; k += 32) { {
int a2 = k;
{ ArgMax<float> o; o.a = up(p3[(a1 + a2 * 768)]); o.b = up(p4[(a1 + a2 * 768)]); y4.merge(o); }
} }
y4 = across_strided<32, 32, 1024>(y4, scratch);
float v4a = (float)y4.a;
i64 v4b = (i64)y4.b;
if (g == 0) p2[(a1)] = Down<i64>::of(v4b);
}
launch k_sum_mul_argmax <256 x 256> with 24576 bytes shared args [0, 1, 3, 4] numbers []
launch k_sum_mul_argmax_finish <24 x 1024> args [3, 4, 2] numbers []
