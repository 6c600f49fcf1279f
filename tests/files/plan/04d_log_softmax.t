test plan
# row 4: log-softmax
# golden 1
func log_softmax(x: f32[512, 1024]) -> (y) {
  %1 = reduce.max %x [1] : f32[512]   # log_softmax @ model.rs:11
  %2 = view.reshape %1 [512, 1] : f32[512, 1]   # log_softmax @ model.rs:11
  %3 = view.expand %2 [512, 1024] : f32[512, 1024]   # log_softmax @ model.rs:11
  %4 = sub %x, %3 : f32[512, 1024]   # log_softmax @ model.rs:11
  %5 = exp %4 : f32[512, 1024]   # log_softmax @ model.rs:11
  %6 = reduce.sum %5 [1] : f32[512]   # log_softmax @ model.rs:11
  %7 = view.reshape %6 [512, 1] : f32[512, 1]   # log_softmax @ model.rs:11
  %8 = log %7 : f32[512, 1]   # log_softmax @ model.rs:11
  %9 = view.expand %8 [512, 1024] : f32[512, 1024]   # log_softmax @ model.rs:11
  %10 = sub %4, %9 : f32[512, 1024]   # log_softmax @ model.rs:11
  return y = %10
}
----
1 kernels
k0_log_softmax: Row (512 | 1024) members %1 %4 %5 %6 %8 %10 -> %10; read 2097152 written 2097152 flops 5245952
