test cuda
# additions that may meet, in order
func scatter_add(x: donated f32[1000, 64], i: i64[256], v: f32[256, 64]) -> (x) {
  %j = view.reshape %i [256, 1]   # index_add @ model.rs:7
  %k = view.expand %j [256, 64]   # index_add @ model.rs:7
  %y = write.add.indices %x, %v, %k [0]   # index_add @ model.rs:7
  return x = %y
}
----
k0_index_add
  p0: i i64[256] Read
  p1: v f32[16384] Read
  p2: %5 f32[64000] ReadWrite
struct k_index_add_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(64) k_index_add(const __grid_constant__ k_index_add_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
i64* p0 = (i64*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
constexpr int V = 1;
const int x = (int)threadIdx.x % 64, g = (int)threadIdx.x / 64 % 1, r = (int)threadIdx.x / 64;
int a2 = (u32)block / (u32)1;
int q = (int)((u32)block % (u32)1) * 64 + x;
int a1 = q;
const int low = a2 * 256, high = least_of<int>(low + 256, 256);
const int steps = (high - low) * 1;
int turn = 0;
_Pragma("unroll 4") for (int step = 0; step < steps; step += 1) {
const int now = step;
int a0 = (low + now / 1);
Vec<i64, 1> r0;
r0 = load<i64, 1>(p0, (a0));
i64 v0 = up(r0.x[0]);
i64 v1 = check(v0, 1000, true, fault, 1ull);
Vec<float, 1> r2;
r2 = load<float, 1>(p1, (a0 * 64 + a1));
float v2 = up(r2.x[0]);
p2[(a1 + v1 * 64)] = Down<float>::of((up(p2[(a1 + v1 * 64)]) + v2));
turn ^= 1; }
}
launch k_index_add <1 x 64> args [0, 1, 2] numbers []
