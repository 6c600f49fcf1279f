test plan
# row 35: symbolic batch and sequence; as row 4: log-softmax
# golden 1
func log_softmax(x: f32[s, 1024]) -> (y) {
  %1 = reduce.max %x [1] : f32[s]   # log_softmax @ model.rs:11
  %2 = view.reshape %1 [s, 1] : f32[s, 1]   # log_softmax @ model.rs:11
  %3 = view.expand %2 [s, 1024] : f32[s, 1024]   # log_softmax @ model.rs:11
  %4 = sub %x, %3 : f32[s, 1024]   # log_softmax @ model.rs:11
  %5 = exp %4 : f32[s, 1024]   # log_softmax @ model.rs:11
  %6 = reduce.sum %5 [1] : f32[s]   # log_softmax @ model.rs:11
  %7 = view.reshape %6 [s, 1] : f32[s, 1]   # log_softmax @ model.rs:11
  %8 = log %7 : f32[s, 1]   # log_softmax @ model.rs:11
  %9 = view.expand %8 [s, 1024] : f32[s, 1024]   # log_softmax @ model.rs:11
  %10 = sub %4, %9 : f32[s, 1024]   # log_softmax @ model.rs:11
  return y = %10
}
----
