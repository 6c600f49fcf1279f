// A GPU's threads on the CPU: the threads of a block are fibers of one thread of the system, the blocks of a cluster one thread
// each. Takes the place of `hardware.cuh`. A wait lets the other fibers run; copies are done when they are waited for, so that
// what reads too early reads what was there before.
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <math.h>
#include <thread>
#include <ucontext.h>
#include <vector>

typedef unsigned long long u64;
typedef unsigned int u32;
typedef long long i64;
#define __device__
#define __global__ static
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __grid_constant__
#define DEV inline
#define UNROLL

struct Index { u32 x; };
static thread_local Index threadIdx, blockIdx, gridDim;

// Fibers.
struct Copy { void* to; const void* from; int bytes; };
struct Fiber {
    jmp_buf here;
    ucontext_t start;
    char* stack = nullptr;
    bool begun = false, done = false;
    std::vector<std::vector<Copy>> copies{1};
};
struct Barrier { int arrived = 0; u32 turn = 0; };
struct Warp { u32 words[32]; int alive; Barrier barrier; };
struct Cluster { int blocks, threads; std::atomic<int> arrived{0}; std::vector<char*> anchors; };
struct Block {
    void (*kernel)(const u64*);
    const u64* words;
    int alive;
    u32 rank;
    Cluster* cluster;
    Fiber* fibers;
    int threads;
    Barrier all, groups[32], turns[4];
    Warp warps[32];
    jmp_buf scheduler;
};
static thread_local Block* self;
static thread_local char anchor[16];

__attribute__((noinline)) void others_run() {
    Fiber& fiber = self->fibers[threadIdx.x];
    if (!_setjmp(fiber.here)) _longjmp(self->scheduler, 1);
}
inline void meet(Barrier& barrier, int expected) {
    u32 turn = barrier.turn;
    if (++barrier.arrived == expected) { barrier.arrived = 0; ++barrier.turn; return; }
    while (barrier.turn == turn) others_run();
}
// Threads that have ended are not waited for.
inline void leave(Barrier& barrier, int expected) {
    if (barrier.arrived > 0 && barrier.arrived == expected) { barrier.arrived = 0; ++barrier.turn; }
}
inline void __syncthreads() { meet(self->all, self->alive); }
inline u32 exchanged(u32 word, int lane) {
    Warp& warp = self->warps[threadIdx.x / 32];
    warp.words[threadIdx.x % 32] = word;
    meet(warp.barrier, warp.alive);
    u32 other = warp.words[lane];
    meet(warp.barrier, warp.alive);
    return other;
}
inline u32 __shfl_xor_sync(u32, u32 word, int mask) { return exchanged(word, (int)threadIdx.x % 32 ^ mask); }
inline u32 __shfl_sync(u32, u32 word, int lane) { return exchanged(word, lane); }

static void fiber_main() {
    self->kernel(self->words);
    self->fibers[threadIdx.x].done = true;
    Warp& warp = self->warps[threadIdx.x / 32];
    leave(self->all, --self->alive);
    leave(warp.barrier, --warp.alive);
    _longjmp(self->scheduler, 1);
}
struct uint4 { u32 x, y, z, w; };
static thread_local uint4* slots;

// Fibers that have not begun, with the stacks of earlier ones.
constexpr size_t STACK = 48 << 10;
struct Stacks {
    std::vector<char*> all;
    ~Stacks() { for (char* stack : all) free(stack); }
};
static Fiber* fibers_of(int count) {
    static thread_local Stacks stacks;
    static thread_local std::vector<Fiber> fibers;
    while ((int)stacks.all.size() < count) stacks.all.push_back((char*)malloc(STACK));
    fibers.clear();
    fibers.resize(count);
    for (int t = 0; t < count; ++t) fibers[t].stack = stacks.all[t];
    return fibers.data();
}

static void run_block(Block& block, u32 number, u32 grid, int threads, int shared) {
    std::vector<uint4> memory(shared / 16 + 1);
    memset(memory.data(), 0xff, memory.size() * sizeof(uint4));
    slots = memory.data();
    self = &block;
    block.cluster->anchors[block.rank] = anchor;
    block.alive = block.threads = threads;
    block.fibers = fibers_of(threads);
    for (int t = 0; t < threads; ++t) ++block.warps[t / 32].alive;
    while (block.alive > 0) {
        for (int t = 0; t < threads; ++t) {
            Fiber& fiber = block.fibers[t];
            if (fiber.done) continue;
            threadIdx.x = t;
            blockIdx.x = number;
            gridDim.x = grid;
            if (_setjmp(block.scheduler)) continue;
            if (fiber.begun) _longjmp(fiber.here, 1);
            fiber.begun = true;
            getcontext(&fiber.start);
            fiber.start.uc_stack.ss_sp = fiber.stack;
            fiber.start.uc_stack.ss_size = STACK;
            makecontext(&fiber.start, fiber_main, 0);
            setcontext(&fiber.start);
        }
        if (block.cluster->blocks > 1) std::this_thread::yield();
    }
}
static void launch(void (*kernel)(const u64*), u32 grid, int threads, int blocks, int shared, std::vector<u64> words) {
    for (u32 first = 0; first < grid; first += blocks) {
        Cluster cluster;
        cluster.blocks = blocks; cluster.threads = threads; cluster.anchors.resize(blocks);
        auto run = [&](u32 rank) {
            Block block{};
            block.kernel = kernel; block.words = words.data(); block.rank = rank; block.cluster = &cluster;
            run_block(block, first + rank, grid, threads, shared);
        };
        if (blocks == 1) { run(0); continue; }
        std::vector<std::thread> all;
        for (int rank = 0; rank < blocks; ++rank) all.emplace_back(run, rank);
        for (auto& thread : all) thread.join();
    }
}

// What `hardware.cuh` gives.
template<class To, class From> inline To bits_of(From x) { To r; memcpy(&r, &x, sizeof r); return r; }
inline float __uint_as_float(u32 x) { return bits_of<float>(x); }
inline float __int_as_float(int x) { return bits_of<float>(x); }
inline u32 __float_as_uint(float x) { return bits_of<u32>(x); }
inline double __longlong_as_double(i64 x) { return bits_of<double>(x); }
inline i64 __double_as_longlong(double x) { return bits_of<i64>(x); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline u32 __umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
inline u64 atomicCAS(u64* at, u64 old, u64 now) { u64 was = *at; if (was == old) *at = now; return was; }

struct b8 { unsigned char b; };
struct f16 { unsigned short b; };
struct bf16 { unsigned short b; };
inline float up(f16 x) { return (float)bits_of<_Float16>(x.b); }
inline float low_half(f16, u32 x) { return up(f16{(unsigned short)x}); }
inline float high_half(f16, u32 x) { return up(f16{(unsigned short)(x >> 16)}); }
inline u32 half_of(f16, float x) { return bits_of<unsigned short>((_Float16)x); }
inline u32 half_of(bf16, float x) {
    u32 b = __float_as_uint(x);
    return x != x ? 0x7fff : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}
template<class T> inline u32 pair(T t, float a, float b) { return half_of(t, a) | half_of(t, b) << 16; }
inline float greater(float a, float b) { return a != a || b != b ? __uint_as_float(0x7fffffff) : a < b ? b : a; }
inline float lesser(float a, float b) { return a != a || b != b ? __uint_as_float(0x7fffffff) : b < a ? b : a; }
inline float ex2(float x) { return exp2f(x); }
inline float rcp(float x) { return 1.0f / x; }
inline float tanh_low(float x) { return tanhf(x); }

typedef u64 SharedAddress;
inline SharedAddress shared_address(const void* p) { return (u64)p; }
template<int BYTES> inline void copy_bytes(void* to, const void* from) {
    self->fibers[threadIdx.x].copies.back().push_back({to, from, BYTES});
}
inline void copies_begun() { self->fibers[threadIdx.x].copies.emplace_back(); }
template<int PENDING> inline void copies_done() {
    auto& copies = self->fibers[threadIdx.x].copies;
    while (copies.size() > 1 + PENDING) {
        for (const Copy& c : copies.front()) memcpy(c.to, c.from, c.bytes);
        copies.erase(copies.begin());
    }
}
template<int G, int T> inline void wait() {
    if (G == T || T / G > 15) __syncthreads();
    else meet(self->groups[threadIdx.x / G], G);
}
template<int T> inline void warp_arrives(int turn) {
    Barrier& barrier = self->turns[turn & 3];
    if (++barrier.arrived == T) { barrier.arrived = 0; ++barrier.turn; }
}
template<int T> inline void warps_arrived(int turn) { meet(self->turns[turn & 3], T); }
inline void earlier_kernels_done() {}
inline void cluster_arrive() { ++self->cluster->arrived; }
inline void cluster_wait() { while (self->cluster->arrived < self->cluster->blocks * self->cluster->threads) others_run(); }
inline u32 cluster_rank() { return self->rank; }
inline SharedAddress in_block(SharedAddress address, u32 rank) {
    return address - (u64)anchor + (u64)self->cluster->anchors[rank];
}
// A meeting: how often it was over, and the bytes that it waits for.
inline std::atomic<u64>& meeting_of(u64 address) { return *reinterpret_cast<std::atomic<u64>*>(address); }
inline void meeting_again(u64* meeting, u32 bytes) { meeting_of((u64)meeting) += bytes; }
inline void meeting_begun(u64* meeting, u32 bytes) { meeting_of((u64)meeting) = bytes; }
inline void meeting_over(u64* meeting, u32 parity) {
    while ((meeting_of((u64)meeting) >> 32 & 1) == parity) others_run();
}
inline void send(SharedAddress to, u32 word, SharedAddress meeting) {
    *reinterpret_cast<u32*>(to) = word;
    if ((u32)meeting_of(meeting).fetch_sub(4) == 4) meeting_of(meeting) += 1ull << 32;
}

// The parameters of a program: read from a file before it runs, written to another one after it, with the fault word first.
struct Params {
    std::vector<std::vector<uint4>> all;
    std::vector<u64> sizes;
    Params(const char* path) {
        FILE* file = fopen(path, "rb");
        if (!file) { perror(path); exit(2); }
        for (u64 bytes; fread(&bytes, 8, 1, file) == 1;) {
            all.emplace_back(bytes / 16 + 1);
            sizes.push_back(bytes);
            if (bytes && fread(all.back().data(), bytes, 1, file) != 1) { fprintf(stderr, "%s ends early\n", path); exit(2); }
        }
        fclose(file);
    }
    u64 operator[](int n) const { return (u64)all[n].data(); }
    void save(const char* path, u64 fault) {
        FILE* file = fopen(path, "wb");
        if (!file) { perror(path); exit(2); }
        fwrite(&fault, 8, 1, file);
        for (size_t n = 0; n < all.size(); ++n) fwrite(all[n].data(), 1, sizes[n], file);
        fclose(file);
    }
};
