test cuda
# a bias that the library cannot read: the product goes to a workspace
func linear(x: f32[512, 768], w: frozen f32[768, 1024], b: frozen f32[1025]) -> (y) {
  %p = contract %x, %w "ab,bc->ac" acc f32
  %b0 = view.slice %b start [1] len [1024] step [1]
  %b1 = view.reshape %b0 [1, 1024]
  %b2 = view.expand %b1 [512, 1024]
  %y = add %p, %b2
  return y = %y
}
----
k0_contract_add
  p0: x f32[393216] Read
  p1: w f32[786432] Read
  p2: b f32[1025] Read
  p3: %7 f32[524288] Write
  p4: product4 f32[524288] ReadWrite
struct k_contract_add_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_contract_add(const __grid_constant__ k_contract_add_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
float* p4 = (float*)w[0];
float* p2 = (float*)w[1];
float* p3 = (float*)w[2];
constexpr int V = 4;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a1 = (int)((u32)q % (u32)256) * V;
int q_1 = (int)((u32)q / (u32)256);
int a0 = q_1;
Vec<float, V> r2;
r2 = load<float, V>(p4, (a0 * 1024 + a1));
float v2[V]; unpack(v2, r2);
Vec<float, V> r3;
LANES(j) r3.x[j] = p2[((a1 + j) + 1)];
float v3[V]; unpack(v3, r3);
float v4[V]; LANES(j) v4[j] = (v2[j] + v3[j]);
store<float, V>(p3, (a0 * 1024 + a1), packed<float>(v4));
}
product 512 x 1024 over 768 in f32: f32 p4[1024, 1] = f32 p0[768, 1] * f32 p1[1024, 1]
launch k_contract_add <512 x 256> args [4, 2, 3] numbers []
