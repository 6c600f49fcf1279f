test cuda
# a walk down the rows that reads ahead: a result per row, and sums over rows that are finished by a second launch
func layer_norm_backward(x: f32[2048, 768], dy: f32[2048, 768], w: f32[768], rstd: f32[2048, 1]) -> (dx, dw, db) {
  %r = view.expand %rstd [2048, 768]
  %n = mul %x, %r
  %w1 = view.reshape %w [1, 768]
  %w2 = view.expand %w1 [2048, 768]
  %g = mul %dy, %w2
  %gn = mul %g, %n
  %s = reduce.sum %gn [1]
  %s1 = view.reshape %s [2048, 1]
  %s2 = view.expand %s1 [2048, 768]
  %ns = mul %n, %s2
  %d = sub %g, %ns
  %dx = mul %d, %r
  %dn = mul %dy, %n
  %dw = reduce.sum %dn [0]
  %db = reduce.sum %dy [0]
  return dx = %dx, dw = %dw, db = %db
}
----
k0_mul_sum_sub
  p0: rstd f32[2048] Read
  p1: dy f32[1572864] Read
  p2: w f32[768] Read
  p3: x f32[1572864] Read
  p4: %15 f32[1572864] Write
  p5: %17 f32[768] Write
  p6: %18 f32[768] Write
  p7: partial7 f32[196608] ReadWrite
  p8: partial8 f32[196608] ReadWrite
struct k_mul_sum_sub_words { u64 w[8]; };
extern "C" __global__ void __launch_bounds__(256) k_mul_sum_sub(const __grid_constant__ k_mul_sum_sub_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[7]; const u32 block = blockIdx.x;
float* p2 = (float*)w[0];
float* p0 = (float*)w[1];
float* p1 = (float*)w[2];
float* p3 = (float*)w[3];
float* p4 = (float*)w[4];
float* p7 = (float*)w[5];
float* p8 = (float*)w[6];
constexpr int V = 4;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<float>) * 256 * at_once<Sum<float>, 256, V>()]; };
__shared__ Scratch scratch[1];
__shared__ Sum<float> m0[2 * 8];
const int x = 0, g = (int)threadIdx.x % 64, r = (int)threadIdx.x / 64;
int a2 = (u32)block / (u32)1;
int q = (int)((u32)block % (u32)1) * 1 + x;
Sum<float> y12[3][V];
UNROLL for (int i = 0; i < 3; ++i) UNROLL for (int j = 0; j < V; ++j) y12[i][j] = Sum<float>::none();
Sum<float> y13[3][V];
UNROLL for (int i = 0; i < 3; ++i) UNROLL for (int j = 0; j < V; ++j) y13[i][j] = Sum<float>::none();
const int low = a2 * 8, high = least_of<int>(low + 8, 2048);
const int steps = (high - low) * 1;
Vec<float, V> c2[3];
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
c2[i] = load<float, V>(p2, (a1));
} }
{ const int first = r < steps ? r : 0;
int a0 = (low + first / 1);
{ {
copy_ahead(slot<float, 1>(0, (int)threadIdx.x), p0, (a0));
} }
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
copy_ahead(slot<float, V>(2048, i * 256 + (int)threadIdx.x), p1, (a0 * 768 + a1));
copy_ahead(slot<float, V>(26624, i * 256 + (int)threadIdx.x), p3, (a0 * 768 + a1));
} }
copies_begun(); }
int turn = 0;
for (int step = 0; step < steps; step += 4) {
int now = step + r; const bool live = now < steps; if (!live) now = 0;
if (const int next = step + 4 + r; next < steps) {
int a0 = (low + next / 1);
{ {
copy_ahead(slot<float, 1>(0 + (turn ^ 1) * 1024, (int)threadIdx.x), p0, (a0));
} }
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
copy_ahead(slot<float, V>(2048 + (turn ^ 1) * 12288, i * 256 + (int)threadIdx.x), p1, (a0 * 768 + a1));
copy_ahead(slot<float, V>(26624 + (turn ^ 1) * 12288, i * 256 + (int)threadIdx.x), p3, (a0 * 768 + a1));
} }
}
copies_begun(); copies_done<1>();
int a0 = (low + now / 1);
const Vec<float, 1> r0 = *slot<float, 1>(0 + (turn) * 1024, (int)threadIdx.x);
float v0 = up(r0.x[0]);
Sum<float> y7;
y7 = Sum<float>::none();
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
const Vec<float, V> r4 = *slot<float, V>(26624 + (turn) * 12288, i * 256 + (int)threadIdx.x);
float v4[V]; unpack(v4, r4);
float v5[V]; LANES(j) v5[j] = (v4[j] * v0);
const Vec<float, V> r1 = *slot<float, V>(2048 + (turn) * 12288, i * 256 + (int)threadIdx.x);
float v1[V]; unpack(v1, r1);
const Vec<float, V> r2 = c2[i];
float v2[V]; unpack(v2, r2);
float v3[V]; LANES(j) v3[j] = (v1[j] * v2[j]);
float v6[V]; LANES(j) v6[j] = (v5[j] * v3[j]);
add_all<V>(y7, v6);
float v11[V]; LANES(j) v11[j] = (v1[j] * v5[j]);
if (live) LANES(j) y12[i][j].add(v11[j]);
if (live) LANES(j) y13[i][j].add(v1[j]);
} }
y7 = across<64, 256>(y7, m0 + turn * 8);
float v7a = (float)y7.a;
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
const Vec<float, V> r1 = *slot<float, V>(2048 + (turn) * 12288, i * 256 + (int)threadIdx.x);
float v1[V]; unpack(v1, r1);
const Vec<float, V> r2 = c2[i];
float v2[V]; unpack(v2, r2);
float v3[V]; LANES(j) v3[j] = (v1[j] * v2[j]);
const Vec<float, V> r4 = *slot<float, V>(26624 + (turn) * 12288, i * 256 + (int)threadIdx.x);
float v4[V]; unpack(v4, r4);
float v5[V]; LANES(j) v5[j] = (v4[j] * v0);
float v8[V]; LANES(j) v8[j] = (v5[j] * v7a);
float v9[V]; LANES(j) v9[j] = (v3[j] - v8[j]);
float v10[V]; LANES(j) v10[j] = (v0 * v9[j]);
if (live) store<float, V>(p4, (a0 * 768 + a1), packed<float>(v10));
} }
turn ^= 1; }
UNROLL for (int i = 0; i < 3; ++i) across_walkers<4, 64, 256>(y12[i], scratch);
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
if (r == 0) { Vec<float, V> all; LANES(j) all.x[j] = Down<float>::of(y12[i][j].a); store<float, V>(p7, (a1 + a2 * 768), all); }
} }
UNROLL for (int i = 0; i < 3; ++i) across_walkers<4, 64, 256>(y13[i], scratch);
UNROLL for (int i = 0; i < 3; ++i) { const int k = g + i * 64; {
int a1 = k * V;
if (r == 0) { Vec<float, V> all; LANES(j) all.x[j] = Down<float>::of(y13[i][j].a); store<float, V>(p8, (a1 + a2 * 768), all); }
} }
}
struct k_mul_sum_sub_finish_words { u64 w[5]; };
extern "C" __global__ void __launch_bounds__(1024) k_mul_sum_sub_finish(const __grid_constant__ k_mul_sum_sub_finish_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[4]; const u32 block = blockIdx.x;
float* p7 = (float*)w[0];
float* p8 = (float*)w[1];
float* p5 = (float*)w[2];
float* p6 = (float*)w[3];
constexpr int V = 1;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Both<Sum<float>, Sum<float>>) * 1024]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 32, r = (int)threadIdx.x / 1024;
int q = (int)block * 32 + x;
int a1 = q;
Sum<float> y12;
y12 = Sum<float>::none();
Sum<float> y13;
y13 = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 256; k += 32) { {
int a2 = k;
{ Sum<float> o; o.a = up(p7[(a1 + a2 * 768)]); y12.merge(o); }
{ Sum<float> o; o.a = up(p8[(a1 + a2 * 768)]); y13.merge(o); }
} }
Both<Sum<float>, Sum<float>> z12; z12.a = y12; z12.b = y13;
z12 = across_strided<32, 32, 1024>(z12, scratch);
y12 = z12.a; y13 = z12.b;
float v12a = (float)y12.a;
float v13a = (float)y13.a;
if (g == 0) p5[(a1)] = Down<float>::of(v12a);
if (g == 0) p6[(a1)] = Down<float>::of(v13a);
}
launch k_mul_sum_sub <256 x 256> with 51200 bytes shared args [2, 0, 1, 3, 4, 7, 8] numbers []
launch k_mul_sum_sub_finish <24 x 1024> args [7, 8, 5, 6] numbers []
