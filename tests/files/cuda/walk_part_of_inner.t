test cuda
# a load that varies over one of two inner axes is read in the loop over both, not ahead in steps of its own
func walk_part_of_inner(x: f32[512, 6, 40], w: f32[6]) -> (rows, sums) {
  %2 = view.reshape %w [1, 6, 1] : f32[1, 6, 1]   # mul @ model.rs:1
  %3 = view.expand %2 [512, 6, 40] : f32[512, 6, 40]   # mul @ model.rs:1
  %4 = mul %x, %3 : f32[512, 6, 40]   # mul @ model.rs:1
  %5 = reduce.sum %4 [1, 2] : f32[512]   # sum @ model.rs:2
  %6 = reduce.sum %4 [0] : f32[6, 40]   # sum @ model.rs:3
  return rows = %5, sums = %6
}
----
k0_mul_sum
  p0: x f32[122880] Read
  p1: w f32[6] Read
  p2: %5 f32[512] Write
  p3: %6 f32[240] Write
  p4: partial4 f32[6960] ReadWrite
struct k_mul_sum_words { u64 w[5]; };
extern "C" __global__ void __launch_bounds__(256) k_mul_sum(const __grid_constant__ k_mul_sum_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[4]; const u32 block = blockIdx.x;
float* p0 = (float*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
float* p4 = (float*)w[3];
constexpr int V = 4;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<float>) * 256 * at_once<Sum<float>, 256, V>()]; };
__shared__ Scratch scratch[1];
const int x = 0, g = (int)threadIdx.x % 32, r = (int)threadIdx.x / 32;
int a3 = (u32)block / (u32)1;
int q = (int)((u32)block % (u32)1) * 1 + x;
Sum<float> y4[2][V];
UNROLL for (int i = 0; i < 2; ++i) UNROLL for (int j = 0; j < V; ++j) y4[i][j] = Sum<float>::none();
const int low = a3 * 18, high = least_of<int>(low + 18, 512);
const int steps = (high - low) * 1;
Vec<float, V> c0[2];
Vec<float, V> h0[2];
{ const int first = r < steps ? r : 0;
int a0 = (low + first / 1);
UNROLL for (int i = 0; i < 2; ++i) { const int k = g + i * 32; if (k < 60) {
int a2 = (int)((u32)k % (u32)10) * V;
int k_1 = (int)((u32)k / (u32)10);
int a1 = k_1;
h0[i] = load<float, V>(p0, (a0 * 240 + a1 * 40 + a2));
} }
}
int turn = 0;
for (int step = 0; step < steps; step += 8) {
int now = step + r; const bool live = now < steps; if (!live) now = 0;
UNROLL for (int i = 0; i < 2; ++i) c0[i] = h0[i];
{ const int next = step + 8 + r < steps ? step + 8 + r : now;
int a0 = (low + next / 1);
UNROLL for (int i = 0; i < 2; ++i) { const int k = g + i * 32; if (k < 60) {
int a2 = (int)((u32)k % (u32)10) * V;
int k_1 = (int)((u32)k / (u32)10);
int a1 = k_1;
h0[i] = load<float, V>(p0, (a0 * 240 + a1 * 40 + a2));
} }
}
int a0 = (low + now / 1);
Sum<float> y3;
y3 = Sum<float>::none();
UNROLL for (int i = 0; i < 2; ++i) { const int k = g + i * 32; if (k < 60) {
int a2 = (int)((u32)k % (u32)10) * V;
int k_1 = (int)((u32)k / (u32)10);
int a1 = k_1;
const Vec<float, V> r0 = c0[i];
float v0[V]; unpack(v0, r0);
Vec<float, 1> r1;
r1 = load<float, 1>(p1, (a1));
float v1 = up(r1.x[0]);
float v2[V]; LANES(j) v2[j] = (v0[j] * v1);
add_all<V>(y3, v2);
if (live) LANES(j) y4[i][j].add(v2[j]);
} }
y3 = across_warp<32>(y3);
float v3a = (float)y3.a;
if (g == 0 && live) p2[(a0)] = Down<float>::of(v3a);
turn ^= 1; }
UNROLL for (int i = 0; i < 2; ++i) across_walkers<8, 32, 256>(y4[i], scratch);
UNROLL for (int i = 0; i < 2; ++i) { const int k = g + i * 32; if (k < 60) {
int a2 = (int)((u32)k % (u32)10) * V;
int k_1 = (int)((u32)k / (u32)10);
int a1 = k_1;
if (r == 0) { Vec<float, V> all; LANES(j) all.x[j] = Down<float>::of(y4[i][j].a); store<float, V>(p4, (a1 * 40 + a2 + a3 * 240), all); }
} }
}
struct k_mul_sum_finish_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(1024) k_mul_sum_finish(const __grid_constant__ k_mul_sum_finish_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
float* p4 = (float*)w[0];
float* p3 = (float*)w[1];
constexpr int V = 1;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<float>) * 1024]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 32, r = (int)threadIdx.x / 1024;
int q = (int)block * 32 + x;
const bool live = q < 240; if (!live) q = 0;
int a2 = (int)((u32)q % (u32)40);
int q_1 = (int)((u32)q / (u32)40);
int a1 = q_1;
Sum<float> y4;
y4 = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 29; k += 32) { {
int a3 = k;
{ Sum<float> o; o.a = up(p4[(a1 * 40 + a2 + a3 * 240)]); y4.merge(o); }
} }
y4 = across_strided<32, 32, 1024>(y4, scratch);
float v4a = (float)y4.a;
if (g == 0 && live) p3[(a1 * 40 + a2)] = Down<float>::of(v4a);
}
launch k_mul_sum <29 x 256> args [0, 1, 2, 4] numbers []
launch k_mul_sum_finish <8 x 1024> args [4, 3] numbers []
