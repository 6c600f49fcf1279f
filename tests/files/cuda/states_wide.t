test cuda
# two states of 24 bytes that are merged at once
func f(x: f64[64, 4096], y: f64[64, 4096]) {
  %w = reduce.welford %x [0]
  %a = result %w [1]
  %u = reduce.welford %y [0]
  %v = result %u [1]
  %s = add %a, %v
  return s = %s
}
----
k0_welford_add
  p0: x f64[262144] Read
  p1: y f64[262144] Read
  p2: %6 f64[4096] Write
  p3: partial3 f64[16384] ReadWrite
  p4: partial4 f64[16384] ReadWrite
  p5: partial5 f64[16384] ReadWrite
  p6: partial6 f64[16384] ReadWrite
  p7: partial7 f64[16384] ReadWrite
  p8: partial8 f64[16384] ReadWrite
struct k_welford_add_words { u64 w[9]; };
extern "C" __global__ void __launch_bounds__(256) k_welford_add(const __grid_constant__ k_welford_add_words words) {
const u64* w = words.w; u64* fault = (u64*)w[8]; const u32 block = blockIdx.x;
double* p0 = (double*)w[0];
double* p1 = (double*)w[1];
double* p3 = (double*)w[2];
double* p4 = (double*)w[3];
double* p5 = (double*)w[4];
double* p6 = (double*)w[5];
double* p7 = (double*)w[6];
double* p8 = (double*)w[7];
constexpr int V = 2;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Welford<double>) * 256]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 1, r = (int)threadIdx.x / 32;
int a2 = (u32)block / (u32)64;
int q = (int)((u32)block % (u32)64) * 32 + x;
int a0 = q * V;
Welford<double> y1[V];
UNROLL for (int j = 0; j < V; ++j) y1[j] = Welford<double>::none();
Welford<double> y4[V];
UNROLL for (int j = 0; j < V; ++j) y4[j] = Welford<double>::none();
const int low = a2 * 16, high = least_of<int>(low + 16, 64);
const int steps = (high - low) * 1;
int turn = 0;
_Pragma("unroll 4") for (int step = 0; step < steps; step += 8) {
int now = step + r; const bool live = now < steps; if (!live) now = 0;
int a1 = (low + now / 1);
Vec<double, V> r0;
r0 = load<double, V>(p0, (a0 + a1 * 4096));
double v0[V]; LANES(j) v0[j] = up(r0.x[j]);
Vec<double, V> r3;
r3 = load<double, V>(p1, (a0 + a1 * 4096));
double v3[V]; LANES(j) v3[j] = up(r3.x[j]);
{ {
if (live) LANES(j) y1[j].add(v0[j]);
if (live) LANES(j) y4[j].add(v3[j]);
} }
turn ^= 1; }
LANES(j) y1[j] = across_strided<8, 32, 256>(y1[j], scratch);
if (r == 0) {
LANES(j) p3[((a0 + j) + a2 * 4096)] = Down<double>::of(y1[j].a);
LANES(j) p4[((a0 + j) + a2 * 4096)] = Down<double>::of(y1[j].b);
LANES(j) p5[((a0 + j) + a2 * 4096)] = Down<double>::of(y1[j].c);
}
LANES(j) y4[j] = across_strided<8, 32, 256>(y4[j], scratch);
if (r == 0) {
LANES(j) p6[((a0 + j) + a2 * 4096)] = Down<double>::of(y4[j].a);
LANES(j) p7[((a0 + j) + a2 * 4096)] = Down<double>::of(y4[j].b);
LANES(j) p8[((a0 + j) + a2 * 4096)] = Down<double>::of(y4[j].c);
}
}
struct k_welford_add_finish_words { u64 w[8]; };
extern "C" __global__ void __launch_bounds__(128) k_welford_add_finish(const __grid_constant__ k_welford_add_finish_words words) {
const u64* w = words.w; u64* fault = (u64*)w[7]; const u32 block = blockIdx.x;
double* p3 = (double*)w[0];
double* p4 = (double*)w[1];
double* p5 = (double*)w[2];
double* p6 = (double*)w[3];
double* p7 = (double*)w[4];
double* p8 = (double*)w[5];
double* p2 = (double*)w[6];
constexpr int V = 1;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Both<Welford<double>, Welford<double>>) * 128]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 4, r = (int)threadIdx.x / 128;
int q = (int)block * 32 + x;
int a0 = q;
Welford<double> y1;
y1 = Welford<double>::none();
Welford<double> y4;
y4 = Welford<double>::none();
_Pragma("unroll 4") for (int k = g; k < 4; k += 4) { {
int a2 = k;
{ Welford<double> o; o.a = up(p3[(a0 + a2 * 4096)]); o.b = up(p4[(a0 + a2 * 4096)]); o.c = up(p5[(a0 + a2 * 4096)]); y1.merge(o); }
{ Welford<double> o; o.a = up(p6[(a0 + a2 * 4096)]); o.b = up(p7[(a0 + a2 * 4096)]); o.c = up(p8[(a0 + a2 * 4096)]); y4.merge(o); }
} }
Both<Welford<double>, Welford<double>> z1; z1.a = y1; z1.b = y4;
z1 = across_strided<4, 32, 128>(z1, scratch);
y1 = z1.a; y4 = z1.b;
double v1a = (double)y1.a;
double v1b = (double)y1.b;
double v1c = (double)y1.c;
double v4a = (double)y4.a;
double v4b = (double)y4.b;
double v4c = (double)y4.c;
double v6 = (v1b + v4b);
if (g == 0) p2[(a0)] = Down<double>::of(v6);
}
launch k_welford_add <256 x 256> args [0, 1, 3, 4, 5, 6, 7, 8] numbers []
launch k_welford_add_finish <128 x 128> args [3, 4, 5, 6, 7, 8, 2] numbers []
