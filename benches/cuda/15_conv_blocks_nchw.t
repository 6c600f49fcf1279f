# row two blocks of two 3x3 convolutions f16 [32, 64, 56, 56] nchw
# ruler product
func blocks(x: f16[32, 64, 56, 56], w1: f16[64, 64, 3, 3], b1: f16[64], w2: f16[64, 64, 3, 3], b2: f16[64], w3: f16[64, 64, 3, 3], b3: f16[64], w4: f16[64, 64, 3, 3], b4: f16[64]) -> (y) {
  %zero = const f16 0.0 : f16[]
  %v1p = view.pad %x lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %v1a = view.window %v1p axis 2 stride 1 dilation 1 size 3
  %v1b = view.window %v1a axis 3 stride 1 dilation 1 size 3
  %c1 = contract %v1b, %w1 "abcdef,gbef->agcd" acc f32
  %k1r = view.reshape %b1 [1, 64, 1, 1]
  %k1e = view.expand %k1r [32, 64, 56, 56]
  %s1 = add %c1, %k1e
  %m1q = view.reshape %zero [1, 1, 1, 1]
  %m1z = view.expand %m1q [32, 64, 56, 56]
  %h1 = max %s1, %m1z
  %v2p = view.pad %h1 lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %v2a = view.window %v2p axis 2 stride 1 dilation 1 size 3
  %v2b = view.window %v2a axis 3 stride 1 dilation 1 size 3
  %c2 = contract %v2b, %w2 "abcdef,gbef->agcd" acc f32
  %k2r = view.reshape %b2 [1, 64, 1, 1]
  %k2e = view.expand %k2r [32, 64, 56, 56]
  %s2 = add %c2, %k2e
  %u2 = add %s2, %x
  %m2q = view.reshape %zero [1, 1, 1, 1]
  %m2z = view.expand %m2q [32, 64, 56, 56]
  %o0 = max %u2, %m2z
  %v3p = view.pad %o0 lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %v3a = view.window %v3p axis 2 stride 1 dilation 1 size 3
  %v3b = view.window %v3a axis 3 stride 1 dilation 1 size 3
  %c3 = contract %v3b, %w3 "abcdef,gbef->agcd" acc f32
  %k3r = view.reshape %b3 [1, 64, 1, 1]
  %k3e = view.expand %k3r [32, 64, 56, 56]
  %s3 = add %c3, %k3e
  %m3q = view.reshape %zero [1, 1, 1, 1]
  %m3z = view.expand %m3q [32, 64, 56, 56]
  %h3 = max %s3, %m3z
  %v4p = view.pad %h3 lo [0, 0, 1, 1] hi [0, 0, 1, 1] interior [0, 0, 0, 0] value 0.0
  %v4a = view.window %v4p axis 2 stride 1 dilation 1 size 3
  %v4b = view.window %v4a axis 3 stride 1 dilation 1 size 3
  %c4 = contract %v4b, %w4 "abcdef,gbef->agcd" acc f32
  %k4r = view.reshape %b4 [1, 64, 1, 1]
  %k4e = view.expand %k4r [32, 64, 56, 56]
  %s4 = add %c4, %k4e
  %u4 = add %s4, %o0
  %m4q = view.reshape %zero [1, 1, 1, 1]
  %m4z = view.expand %m4q [32, 64, 56, 56]
  %o1 = max %u4, %m4z
  return y = %o1
}
