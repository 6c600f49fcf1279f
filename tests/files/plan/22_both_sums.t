test plan
# row 22: sums down and along a matrix that is read once
# golden 1
func both_sums(x: f32[4096, 4096]) -> (columns, rows) {
  %1 = reduce.sum %x [0] : f32[4096]   # sum @ model.rs:11
  %2 = reduce.sum %x [1] : f32[4096]   # sum @ model.rs:12
  return columns = %1, rows = %2
}
----
