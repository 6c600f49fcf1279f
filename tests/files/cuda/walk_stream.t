test cuda
# a walk of which states meet once per row, and whose threads fit one row: it takes rows as a stream
func layer_norm_backward(x: bf16[4096, 4096], dy: bf16[4096, 4096], w: bf16[4096], rstd: f32[4096, 1]) -> (dx, dw, db) {
  %xf = cast.f32 %x
  %dyf = cast.f32 %dy
  %wf = cast.f32 %w
  %r = view.expand %rstd [4096, 4096]
  %n = mul %xf, %r
  %w1 = view.reshape %wf [1, 4096]
  %w2 = view.expand %w1 [4096, 4096]
  %g = mul %dyf, %w2
  %gn = mul %g, %n
  %s = reduce.sum %gn [1]
  %s1 = view.reshape %s [4096, 1]
  %s2 = view.expand %s1 [4096, 4096]
  %ns = mul %n, %s2
  %d = sub %g, %ns
  %dx = mul %d, %r
  %dxb = cast.bf16 %dx
  %dn = mul %dyf, %n
  %dw = reduce.sum %dn [0]
  %db = reduce.sum %dyf [0]
  return dx = %dxb, dw = %dw, db = %db
}
----
k0_cast_f32_mul_sum_sub_and_1
  p0: rstd f32[4096] Read
  p1: dy bf16[16777216] Read
  p2: w bf16[4096] Read
  p3: x bf16[16777216] Read
  p4: %19 bf16[16777216] Write
  p5: %21 f32[4096] Write
  p6: %22 f32[4096] Write
  p7: partial7 f32[1527808] ReadWrite
  p8: partial8 f32[1527808] ReadWrite
struct k_cast_f32_mul_sum_sub_and_1_words { u64 w[8]; };
extern "C" __global__ void __launch_bounds__(128) k_cast_f32_mul_sum_sub_and_1(const __grid_constant__ k_cast_f32_mul_sum_sub_and_1_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[7]; const u32 block = blockIdx.x;
bf16* p2 = (bf16*)w[0];
float* p0 = (float*)w[1];
bf16* p1 = (bf16*)w[2];
bf16* p3 = (bf16*)w[3];
bf16* p4 = (bf16*)w[4];
float* p7 = (float*)w[5];
float* p8 = (float*)w[6];
constexpr int V = 8;
__shared__ Sum<float> m0[4 * 4];
const int x = (int)threadIdx.x / 128, g = (int)threadIdx.x % 128, r = 0;
int a2 = (u32)block / (u32)1;
int q = (int)((u32)block % (u32)1) * 1 + x;
Sum<float> y16[4][V];
UNROLL for (int i = 0; i < 4; ++i) UNROLL for (int j = 0; j < V; ++j) y16[i][j] = Sum<float>::none();
Sum<float> y17[4][V];
UNROLL for (int i = 0; i < 4; ++i) UNROLL for (int j = 0; j < V; ++j) y17[i][j] = Sum<float>::none();
Vec<bf16, V> c3[4];
UNROLL for (int i = 0; i < 4; ++i) { const int k = g + i * 128; {
int a1 = k * V;
c3[i] = load<bf16, V>(p2, (a1));
} }
for (int here = 0; here <= 2; ++here) { if (int q = a2 + here * 373; q < 4096) {
int a0 = q;
{ {
copy_ahead(slot<float, 1>(49152 + (here) * 512, (int)threadIdx.x), p0, (a0));
} }
UNROLL for (int i = 0; i < 4; ++i) { const int k = g + i * 128; {
int a1 = k * V;
copy_ahead(slot<bf16, V>(0 + (here) * 8192, i * 128 + (int)threadIdx.x), p1, (a0 * 4096 + a1));
copy_ahead(slot<bf16, V>(24576 + (here) * 8192, i * 128 + (int)threadIdx.x), p3, (a0 * 4096 + a1));
} }
}
copies_begun(); }
int ring = 0, n = 0;
for (int row = a2; ; row += 373, ++n) {
if (row < 4096) {
copies_done<1>();
const int turn = n, here = ring; int q = row;
int a0 = q;
const Vec<float, 1> r0 = *slot<float, 1>(49152 + (here) * 512, (int)threadIdx.x);
float v0 = up(r0.x[0]);
Sum<float> y10;
y10 = Sum<float>::none();
UNROLL for (int i = 0; i < 4; ++i) { const int k = g + i * 128; {
int a1 = k * V;
const Vec<bf16, V> r6 = *slot<bf16, V>(24576 + (here) * 8192, i * 128 + (int)threadIdx.x);
float v6[V]; unpack(v6, r6);
float v7[V]; LANES(j) v7[j] = (float)v6[j];
float v8[V]; LANES(j) v8[j] = (v7[j] * v0);
const Vec<bf16, V> r1 = *slot<bf16, V>(0 + (here) * 8192, i * 128 + (int)threadIdx.x);
float v1[V]; unpack(v1, r1);
float v2[V]; LANES(j) v2[j] = (float)v1[j];
const Vec<bf16, V> r3 = c3[i];
float v3[V]; unpack(v3, r3);
float v4[V]; LANES(j) v4[j] = (float)v3[j];
float v5[V]; LANES(j) v5[j] = (v2[j] * v4[j]);
float v9[V]; LANES(j) v9[j] = (v8[j] * v5[j]);
add_all<V>(y10, v9);
float v15[V]; LANES(j) v15[j] = (v2[j] * v8[j]);
LANES(j) y16[i][j].add(v15[j]);
LANES(j) y17[i][j].add(v2[j]);
} }
to_group(y10, m0 + (turn & 3) * 4);
}
if (n > 0) {
const int turn = n - 1, here = ring == 0 ? 2 : ring - 1; int q = row - 373;
const int next = row + 2 * 373;
int a0 = q;
Sum<float> y10;
y10 = Sum<float>::none();
y10 = from_group<128, 128>(m0 + (turn & 3) * 4);
float v10a = (float)y10.a;
UNROLL for (int i = 0; i < 4; ++i) { const int k = g + i * 128; {
int a1 = k * V;
const Vec<float, 1> r0 = *slot<float, 1>(49152 + (here) * 512, (int)threadIdx.x);
float v0 = up(r0.x[0]);
const Vec<bf16, V> r1 = *slot<bf16, V>(0 + (here) * 8192, i * 128 + (int)threadIdx.x);
float v1[V]; unpack(v1, r1);
float v2[V]; LANES(j) v2[j] = (float)v1[j];
const Vec<bf16, V> r3 = c3[i];
float v3[V]; unpack(v3, r3);
float v4[V]; LANES(j) v4[j] = (float)v3[j];
float v5[V]; LANES(j) v5[j] = (v2[j] * v4[j]);
const Vec<bf16, V> r6 = *slot<bf16, V>(24576 + (here) * 8192, i * 128 + (int)threadIdx.x);
float v6[V]; unpack(v6, r6);
float v7[V]; LANES(j) v7[j] = (float)v6[j];
float v8[V]; LANES(j) v8[j] = (v7[j] * v0);
float v11[V]; LANES(j) v11[j] = (v8[j] * v10a);
float v12[V]; LANES(j) v12[j] = (v5[j] - v11[j]);
float v13[V]; LANES(j) v13[j] = (v0 * v12[j]);
store<bf16, V>(p4, (a0 * 4096 + a1), packed<bf16>(v13));
if (int q = next; q < 4096) {
int a0 = q;
copy_ahead(slot<bf16, V>(0 + (here) * 8192, i * 128 + (int)threadIdx.x), p1, (a0 * 4096 + a1));
copy_ahead(slot<bf16, V>(24576 + (here) * 8192, i * 128 + (int)threadIdx.x), p3, (a0 * 4096 + a1));
}
} }
if (int q = next; q < 4096) {
int a0 = q;
copy_ahead(slot<float, 1>(49152 + (here) * 512, (int)threadIdx.x), p0, (a0));
}
copies_begun();
}
if (row >= 4096) break;
ring = ring == 2 ? 0 : ring + 1;
}
UNROLL for (int i = 0; i < 4; ++i) { const int k = g + i * 128; {
int a1 = k * V;
{ Vec<float, V> all; LANES(j) all.x[j] = Down<float>::of(y16[i][j].a); store<float, V>(p7, (a1 + a2 * 4096), all); }
} }
UNROLL for (int i = 0; i < 4; ++i) { const int k = g + i * 128; {
int a1 = k * V;
{ Vec<float, V> all; LANES(j) all.x[j] = Down<float>::of(y17[i][j].a); store<float, V>(p8, (a1 + a2 * 4096), all); }
} }
}
struct k_cast_f32_mul_sum_sub_and_1_finish_words { u64 w[5]; };
extern "C" __global__ void __launch_bounds__(1024) k_cast_f32_mul_sum_sub_and_1_finish(const __grid_constant__ k_cast_f32_mul_sum_sub_and_1_finish_words words) {
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
Sum<float> y16;
y16 = Sum<float>::none();
Sum<float> y17;
y17 = Sum<float>::none();
_Pragma("unroll 4") for (int k = g; k < 373; k += 32) { {
int a2 = k;
{ Sum<float> o; o.a = up(p7[(a1 + a2 * 4096)]); y16.merge(o); }
{ Sum<float> o; o.a = up(p8[(a1 + a2 * 4096)]); y17.merge(o); }
} }
Both<Sum<float>, Sum<float>> z16; z16.a = y16; z16.b = y17;
z16 = across_strided<32, 32, 1024>(z16, scratch);
y16 = z16.a; y17 = z16.b;
float v16a = (float)y16.a;
float v17a = (float)y17.a;
if (g == 0) p5[(a1)] = Down<float>::of(v16a);
if (g == 0) p6[(a1)] = Down<float>::of(v17a);
}
launch k_cast_f32_mul_sum_sub_and_1 <373 x 128> with 50688 bytes shared args [2, 0, 1, 3, 4, 7, 8] numbers []
launch k_cast_f32_mul_sum_sub_and_1_finish <128 x 1024> args [7, 8, 5, 6] numbers []
