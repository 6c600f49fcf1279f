test cuda
# broadcasts of a row and a column, and mixed dtypes; all sizes are multiples of a thread's
func pointwise(x: bf16[512, 1024], row: f32[1024], column: f32[512], keep: bool[512, 1024]) -> (y) {
  %wide = cast.f32 %x
  %r1 = view.reshape %row [1, 1024]
  %r = view.expand %r1 [512, 1024]
  %c1 = view.reshape %column [512, 1]
  %c = view.expand %c1 [512, 1024]
  %scaled = mul %wide, %r
  %moved = add %scaled, %c
  %zero = const f32 0.0
  %z1 = view.reshape %zero [1, 1]
  %z = view.expand %z1 [512, 1024]
  %kept = select %keep, %moved, %z
  %y = cast.f16 %kept
  return y = %y
}
----
k0_cast_f32_mul_add_select_and_1
  p0: keep bool[524288] Read
  p1: column f32[512] Read
  p2: x bf16[524288] Read
  p3: row f32[1024] Read
  p4: %15 f16[524288] Write
struct k_cast_f32_mul_add_select_and_1_words { u64 w[6]; };
extern "C" __global__ void __launch_bounds__(256) k_cast_f32_mul_add_select_and_1(const __grid_constant__ k_cast_f32_mul_add_select_and_1_words words) {
earlier_kernels_done();
const u64* w = words.w; u64* fault = (u64*)w[5]; const u32 block = blockIdx.x;
b8* p0 = (b8*)w[0];
float* p1 = (float*)w[1];
bf16* p2 = (bf16*)w[2];
float* p3 = (float*)w[3];
f16* p4 = (f16*)w[4];
constexpr int V = 8;
const int x = (int)threadIdx.x % 256, g = (int)threadIdx.x / 256 % 1, r = (int)threadIdx.x / 256;
int q = (int)block * 256 + x;
int a1 = (int)((u32)q % (u32)128) * V;
int q_1 = (int)((u32)q / (u32)128);
int a0 = q_1;
Vec<b8, V> r0;
r0 = load<b8, V>(p0, (a0 * 1024 + a1));
bool v0[V]; unpack(v0, r0);
Vec<float, 1> r1;
r1 = load<float, 1>(p1, (a0));
float v1 = up(r1.x[0]);
Vec<bf16, V> r2;
r2 = load<bf16, V>(p2, (a0 * 1024 + a1));
float v2[V]; unpack(v2, r2);
float v3[V]; LANES(j) v3[j] = (float)v2[j];
Vec<float, V> r4;
r4 = load<float, V>(p3, (a1));
float v4[V]; unpack(v4, r4);
float v5[V]; LANES(j) v5[j] = (v3[j] * v4[j]);
float v6[V]; LANES(j) v6[j] = (v1 + v5[j]);
float v8[V]; LANES(j) v8[j] = (v0[j] ? v6[j] : 0.0f);
float v9[V]; LANES(j) v9[j] = round_f16((float)v8[j]);
store<f16, V>(p4, (a0 * 1024 + a1), packed<f16>(v9));
}
launch k_cast_f32_mul_add_select_and_1 <256 x 256> args [0, 1, 2, 3, 4] numbers []
