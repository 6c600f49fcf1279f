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
struct k_welford_add_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_welford_add(const __grid_constant__ k_welford_add_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
double* p0 = (double*)w[0];
double* p1 = (double*)w[1];
double* p2 = (double*)w[2];
constexpr int V = 2;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Welford<double>) * 256]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 16, g = (int)threadIdx.x / 16 % 16, r = (int)threadIdx.x / 256;
int q = (int)block * 16 + x;
int a0 = q * V;
Welford<double> y1[V];
UNROLL for (int j = 0; j < V; ++j) y1[j] = Welford<double>::none();
Welford<double> y4[V];
UNROLL for (int j = 0; j < V; ++j) y4[j] = Welford<double>::none();
_Pragma("unroll 4") for (int k = g; k < 64; k += 16) { {
int a1 = k;
Vec<double, V> r0;
r0 = load<double, V>(p0, (a0 + a1 * 4096));
double v0[V]; unpack(v0, r0);
LANES(j) y1[j].add(v0[j]);
Vec<double, V> r3;
r3 = load<double, V>(p1, (a0 + a1 * 4096));
double v3[V]; unpack(v3, r3);
LANES(j) y4[j].add(v3[j]);
} }
LANES(j) y1[j] = across_strided<16, 16, 256>(y1[j], scratch);
LANES(j) y4[j] = across_strided<16, 16, 256>(y4[j], scratch);
double v1a[V]; LANES(j) v1a[j] = (double)y1[j].a;
double v1b[V]; LANES(j) v1b[j] = (double)y1[j].b;
double v1c[V]; LANES(j) v1c[j] = (double)y1[j].c;
double v4a[V]; LANES(j) v4a[j] = (double)y4[j].a;
double v4b[V]; LANES(j) v4b[j] = (double)y4[j].b;
double v4c[V]; LANES(j) v4c[j] = (double)y4[j].c;
double v6[V]; LANES(j) v6[j] = (v1b[j] + v4b[j]);
if (g == 0) store<double, V>(p2, (a0), packed<double>(v6));
}
launch k_welford_add <128 x 256> args [0, 1, 2] numbers []
