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
struct k_contract_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(512) k_contract(const __grid_constant__ k_contract_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
int* p0 = (int*)w[0];
int* p1 = (int*)w[1];
int* p2 = (int*)w[2];
constexpr int V = 4;
union alignas(16) Scratch { char one[16]; char s0[sizeof(Sum<int>) * 512]; };
__shared__ Scratch scratch[1];
const int x = (int)threadIdx.x % 16, g = (int)threadIdx.x / 16 % 32, r = (int)threadIdx.x / 512;
int q = (int)block * 16 + x;
int a1 = (int)((u32)q % (u32)32) * V;
int q_1 = (int)((u32)q / (u32)32);
int a0 = q_1;
Sum<int> y2[V];
UNROLL for (int j = 0; j < V; ++j) y2[j] = Sum<int>::none();
_Pragma("unroll 4") for (int k = g; k < 96; k += 32) { {
int a2 = k;
Vec<int, 1> r0;
r0 = load<int, 1>(p0, (a0 * 96 + a2));
int v0 = up(r0.x[0]);
Vec<int, V> r1;
r1 = load<int, V>(p1, (a1 + a2 * 128));
int v1[V]; unpack(v1, r1);
LANES(j) y2[j].add((int)(((int)v0) * ((int)v1[j])));
} }
LANES(j) y2[j] = across_strided<32, 16, 512>(y2[j], scratch);
int v2a[V]; LANES(j) v2a[j] = (int)y2[j].a;
if (g == 0) store<int, V>(p2, (a0 * 128 + a1), packed<int>(v2a));
}
launch k_contract <128 x 512> args [0, 1, 2] numbers []
