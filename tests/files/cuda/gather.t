test cuda
# rows by number, with a check of the index
func embedding(tokens: i64[256], table: f32[1000, 512]) -> (y) {
  %t = view.reshape %tokens [256, 1]   # embedding @ model.rs:7
  %i = view.expand %t [256, 512]   # embedding @ model.rs:7
  %y = gather %table, %i [0]   # embedding @ model.rs:7
  return y = %y
}
----
k0_embedding
  p0: tokens i64[256] Read
  p1: table f32[512000] Read
  p2: %4 f32[131072] Write
struct k_embedding_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_embedding(const __grid_constant__ k_embedding_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
i64* p0 = (i64*)w[0];
float* p1 = (float*)w[1];
float* p2 = (float*)w[2];
constexpr int V = 4;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a1 = (int)((u32)q % (u32)128) * V;
int q_1 = (int)((u32)q / (u32)128);
int a0 = q_1;
Vec<i64, 1> r0;
r0 = load<i64, 1>(p0, (a0));
i64 v0 = up(r0.x[0]);
i64 v1 = check(v0, 1000, true, fault, 1ull);
Vec<float, V> r2;
r2 = load<float, V>(p1, (a1 + v1 * 512));
float v2[V]; unpack(v2, r2);
store<float, V>(p2, (a0 * 512 + a1), packed<float>(v2));
}
launch k_embedding <128 x 256> args [0, 1, 2] numbers []
