test cuda
# a factor that is computed is stored first, however small: the library reads stored matrices
func two_layers(x: bf16[64, 48], w: frozen bf16[48, 40]) -> (y) {
  %h = tanh %x
  %y = contract %h, %w "ab,bc->ac" acc f32
  return y = %y
}
----
k0_tanh
  p0: x bf16[3072] Read
  p1: %2 bf16[3072] Write
struct k_tanh_words { u64 w[3]; };
extern "C" __global__ void __launch_bounds__(256) k_tanh(const __grid_constant__ k_tanh_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[2]; const u32 block = blockIdx.x;
bf16* p0 = (bf16*)w[0];
bf16* p1 = (bf16*)w[1];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
if (q >= 384) return;
int a1 = q * V;
Vec<bf16, V> r0;
r0 = load<bf16, V>(p0, (a1));
float v0[V]; unpack(v0, r0);
float v1[V]; LANES(j) v1[j] = round_bf16(s_tanh(v0[j]));
store<bf16, V>(p1, (a1), packed<bf16>(v1));
}
launch k_tanh <2 x 256> args [0, 1] numbers []

k1_contract
  p0: %2 bf16[3072] Read
  p1: w bf16[1920] Read
  p2: %3 bf16[2560] Write
product 64 x 40 over 48 in f32: bf16 p2[40, 1] = bf16 p0[48, 1] * bf16 p1[40, 1]
