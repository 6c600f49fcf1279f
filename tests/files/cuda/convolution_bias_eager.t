test cuda
# a bias of f16 stays outside, as the convolution rounds first
func eager(x: f16[8, 56, 56, 64], w: frozen f16[32, 3, 3, 64], b: frozen f16[32]) -> (y) {
  %p = view.pad %x lo [0, 1, 1, 0] hi [0, 1, 1, 0] interior [0, 0, 0, 0] value 0.0
  %a = view.window %p axis 1 stride 1 dilation 1 size 3
  %c = view.window %a axis 2 stride 1 dilation 1 size 3
  %d = contract %c, %w "abcdef,gefd->abcg" acc f32
  %r = view.reshape %b [1, 1, 1, 32]
  %e = view.expand %r [8, 56, 56, 32]
  %s = add %d, %e
  %zero = const f16 0.0 : f16[]
  %q = view.reshape %zero [1, 1, 1, 1]
  %z = view.expand %q [8, 56, 56, 32]
  %y = max %s, %z
  return y = %y
}
----
k0_contract
  p0: x f16[1605632] Read
  p1: w f16[18432] Read
  p2: %6 f16[802816] Write
convolution in f32, 1 groups, windows 1/1 pad 1+1 1/1 pad 1+1: y f16 p2[8, 32, 56, 56] by [100352, 1, 1792, 32] = x f16 p0[8, 64, 56, 56] by [200704, 1, 3584, 64] * w f16 p1[32, 64, 3, 3] by [576, 1, 192, 64]

k1_add_max
  p0: %6 f16[802816] Read
  p1: b f16[32] Read
  p2: %13 f16[802816] Write
struct k_add_max_words { u64 w[4]; };
extern "C" __global__ void __launch_bounds__(256) k_add_max(const __grid_constant__ k_add_max_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[3]; const u32 block = blockIdx.x;
f16* p0 = (f16*)w[0];
f16* p1 = (f16*)w[1];
f16* p2 = (f16*)w[2];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a3 = (int)((u32)q % (u32)4) * V;
int q_1 = (int)((u32)q / (u32)4);
int a2 = q_1;
Vec<f16, V> r0;
r0 = load<f16, V>(p0, (a2 * 32 + a3));
float v0[V]; unpack(v0, r0);
Vec<f16, V> r1;
r1 = load<f16, V>(p1, (a3));
float v1[V]; unpack(v1, r1);
float v2[V]; LANES(j) v2[j] = round_f16((v0[j] + v1[j]));
float v4[V]; LANES(j) v4[j] = s_max(v2[j], 0.0f);
store<f16, V>(p2, (a2 * 32 + a3), packed<f16>(v4));
}
launch k_add_max <392 x 256> args [0, 1, 2] numbers []
