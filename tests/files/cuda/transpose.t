test cuda
# tiles that turn in shared memory
func transposed(x: bf16[512, 1024], y: bf16[1024, 512]) -> (z) {
  %t = view.permute %x [1, 0]
  %z = add %t, %y
  return z = %z
}
----
k0_add
  p0: y bf16[524288] Read
  p1: x bf16[524288] Read
  p2: %3 bf16[524288] Write
struct k_add_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_add(const __grid_constant__ k_add_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
bf16* p1 = (bf16*)w[0];
bf16* p0 = (bf16*)w[1];
bf16* p2 = (bf16*)w[2];
constexpr int V = 8;
const int tile_v = (int)(block % (u32)8) * 64, tile_w = (int)(block / (u32)8 % (u32)16) * 64;
int q = (int)(block / ((u32)8 * (u32)16));
__shared__ bf16 t1[64 * 66];
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t / 8, dw = t % 8 * 8; const int a1 = tile_v + dv, a0 = tile_w + dw;
if (a1 < 512 && a0 < 1024) {
const auto h1 = load<bf16, 8>(p1, (a0 + a1 * 1024));
turn_in<bf16, 8>(t1 + dv * 66 + dw, h1);
} }
__syncthreads();
UNROLL for (int t = threadIdx.x; t < 512; t += 256) {
const int dv = t % 8 * 8, dw = t / 8; const int a1 = tile_v + dv, a0 = tile_w + dw;
if (a1 < 512 && a0 < 1024) {
Vec<bf16, V> h1; UNROLL for (int j = 0; j < V; ++j) h1.x[j] = t1[(dv + j) * 66 + dw];
Vec<bf16, V> r0;
r0 = load<bf16, V>(p0, (a0 * 512 + a1));
float v0[V]; unpack(v0, r0);
const Vec<bf16, V> r1 = h1;
float v1[V]; unpack(v1, r1);
float v2[V]; LANES(j) v2[j] = round_bf16((v0[j] + v1[j]));
store<bf16, V>(p2, (a0 * 512 + a1), packed<bf16>(v2));
} }
}
launch k_add <128 x 256> args [1, 0, 2] numbers []
