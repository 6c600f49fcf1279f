test cuda
# a product of the library, then what follows it in generated code
func linear_relu(x: bf16[512, 768], w: frozen bf16[768, 1024], b: frozen bf16[1024]) -> (y) {
  %p = contract %x, %w "ab,bc->ac" acc f32
  %b1 = view.reshape %b [1, 1024]
  %b2 = view.expand %b1 [512, 1024]
  %s = add %p, %b2
  %z = const bf16 0.0
  %z1 = view.reshape %z [1, 1]
  %z2 = view.expand %z1 [512, 1024]
  %y = max %s, %z2
  return y = %y
}
----
k0_contract
  p0: x bf16[393216] Read
  p1: w bf16[786432] Read
  p2: %3 bf16[524288] Write
product 512 x 1024 over 768 in f32: bf16 p2[1024, 1] = bf16 p0[768, 1] * bf16 p1[1024, 1]

k1_add_max
  p0: %3 bf16[524288] Read
  p1: b bf16[1024] Read
  p2: %10 bf16[524288] Write
struct k_add_max_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_add_max(const __grid_constant__ k_add_max_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
bf16* p0 = (bf16*)w[0];
bf16* p1 = (bf16*)w[1];
bf16* p2 = (bf16*)w[2];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a1 = (int)((u32)q % (u32)128) * V;
int q_1 = (int)((u32)q / (u32)128);
int a0 = q_1;
Vec<bf16, V> r0;
r0 = load<bf16, V>(p0, (a0 * 1024 + a1));
float v0[V]; unpack(v0, r0);
Vec<bf16, V> r1;
r1 = load<bf16, V>(p1, (a1));
float v1[V]; unpack(v1, r1);
float v2[V]; LANES(j) v2[j] = round_bf16((v0[j] + v1[j]));
float v4[V]; LANES(j) v4[j] = s_max(v2[j], 0.0f);
store<bf16, V>(p2, (a0 * 1024 + a1), packed<bf16>(v4));
}
launch k_add_max <256 x 256> args [0, 1, 2] numbers []
