test cuda
# a product that no library takes, in generated loops
func integers(x: i32[64, 96], w: i32[96, 128]) -> (y) {
  %y = contract %x, %w "ab,bc->ac" acc i32
  return y = %y
}
----
k0_contract
  p0: x i32[6144] Read
  p1: w i32[12288] Read
  p2: %2 i32[8192] Write
  p3: partial3 i32[49152] ReadWrite
struct k_contract_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_contract(const __grid_constant__ k_contract_words words) {
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
int* p0 = (int*)w[0];
int* p1 = (int*)w[1];
int* p3 = (int*)w[2];
constexpr int V = 4;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<int>) * 256]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 1, r = (int)threadIdx.x / 32;
int a3 = (u32)block / (u32)64;
int q = (int)((u32)block % (u32)64) * 32 + x;
int a1 = (int)((u32)q % (u32)32) * V;
int q_1 = (int)((u32)q / (u32)32);
int a0 = q_1;
Sum<int> y2[V];
UNROLL for (int j = 0; j < V; ++j) y2[j] = Sum<int>::none();
const int low = a3 * 16, high = least_of<int>(low + 16, 96);
const int steps = (high - low) * 1;
int turn = 0;
_Pragma("unroll 4") for (int step = 0; step < steps; step += 8) {
int now = step + r; const bool live = now < steps; if (!live) now = 0;
int a2 = (low + now / 1);
Vec<int, 1> r0;
r0 = load<int, 1>(p0, (a0 * 96 + a2));
int v0 = up(r0.x[0]);
Vec<int, V> r1;
r1 = load<int, V>(p1, (a1 + a2 * 128));
int v1[V]; LANES(j) v1[j] = up(r1.x[j]);
{ {
if (live) LANES(j) y2[j].add((int)(((int)v0) * ((int)v1[j])));
} }
turn ^= 1; }
LANES(j) y2[j] = across_strided<8, 32, 256>(y2[j], scratch);
if (r == 0) {
LANES(j) p3[(a0 * 128 + (a1 + j) + a3 * 8192)] = Down<int>::of(y2[j].a);
}
}
struct k_contract_finish_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_contract_finish(const __grid_constant__ k_contract_finish_words words) {
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
int* p3 = (int*)w[0];
int* p2 = (int*)w[1];
constexpr int V = 1;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<int>) * 256]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 32, g = (int)threadIdx.x / 32 % 8, r = (int)threadIdx.x / 256;
int q = (int)block * 32 + x;
int a1 = (int)((u32)q % (u32)128);
int q_1 = (int)((u32)q / (u32)128);
int a0 = q_1;
Sum<int> y2;
y2 = Sum<int>::none();
_Pragma("unroll 4") for (int k = g; k < 6; k += 8) { {
int a3 = k;
{ Sum<int> o; o.a = up(p3[(a0 * 128 + a1 + a3 * 8192)]); y2.merge(o); }
} }
y2 = across_strided<8, 32, 256>(y2, scratch);
int v2a = (int)y2.a;
if (g == 0) p2[(a0 * 128 + a1)] = Down<int>::of(v2a);
}
launch k_contract <384 x 256> args [0, 1, 3] numbers []
launch k_contract_finish <256 x 256> args [3, 2] numbers []
