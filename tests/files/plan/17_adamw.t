test plan
# row 17: AdamW over 20 tensors, one horizontal kernel
# golden 1
func adamw(
  p0: donated f32[768],
  g0: f32[768],
  m0: donated f32[768],
  v0: donated f32[768],
  p1: donated f32[768],
  g1: f32[768],
  m1: donated f32[768],
  v1: donated f32[768],
  p2: donated f32[2304, 768],
  g2: f32[2304, 768],
  m2: donated f32[2304, 768],
  v2: donated f32[2304, 768],
  p3: donated f32[2304],
  g3: f32[2304],
  m3: donated f32[2304],
  v3: donated f32[2304],
  p4: donated f32[768, 768],
  g4: f32[768, 768],
  m4: donated f32[768, 768],
  v4: donated f32[768, 768],
  p5: donated f32[768],
  g5: f32[768],
  m5: donated f32[768],
  v5: donated f32[768],
  p6: donated f32[3072, 768],
  g6: f32[3072, 768],
  m6: donated f32[3072, 768],
  v6: donated f32[3072, 768],
  p7: donated f32[3072],
  g7: f32[3072],
  m7: donated f32[3072],
  v7: donated f32[3072],
  p8: donated f32[768, 3072],
  g8: f32[768, 3072],
  m8: donated f32[768, 3072],
  v8: donated f32[768, 3072],
  p9: donated f32[768],
  g9: f32[768],
  m9: donated f32[768],
  v9: donated f32[768],
  p10: donated f32[768],
  g10: f32[768],
  m10: donated f32[768],
  v10: donated f32[768],
  p11: donated f32[768],
  g11: f32[768],
  m11: donated f32[768],
  v11: donated f32[768],
  p12: donated f32[2304, 768],
  g12: f32[2304, 768],
  m12: donated f32[2304, 768],
  v12: donated f32[2304, 768],
  p13: donated f32[2304],
  g13: f32[2304],
  m13: donated f32[2304],
  v13: donated f32[2304],
  p14: donated f32[768, 768],
  g14: f32[768, 768],
  m14: donated f32[768, 768],
  v14: donated f32[768, 768],
  p15: donated f32[768],
  g15: f32[768],
  m15: donated f32[768],
  v15: donated f32[768],
  p16: donated f32[3072, 768],
  g16: f32[3072, 768],
  m16: donated f32[3072, 768],
  v16: donated f32[3072, 768],
  p17: donated f32[3072],
  g17: f32[3072],
  m17: donated f32[3072],
  v17: donated f32[3072],
  p18: donated f32[768, 3072],
  g18: f32[768, 3072],
  m18: donated f32[768, 3072],
  v18: donated f32[768, 3072],
  p19: donated f32[768],
  g19: f32[768],
  m19: donated f32[768],
  v19: donated f32[768],
  lr: f32[],
  c1: f32[],
  c2: f32[],
) -> (p0, m0, v0, p1, m1, v1, p2, m2, v2, p3, m3, v3, p4, m4, v4, p5, m5, v5, p6, m6, v6, p7, m7, v7, p8, m8, v8, p9, m9, v9, p10, m10, v10, p11, m11, v11, p12, m12, v12, p13, m13, v13, p14, m14, v14, p15, m15, v15, p16, m16, v16, p17, m17, v17, p18, m18, v18, p19, m19, v19) {
  %83 = const f32 0.9 : f32[]   # adamw @ model.rs:11
  %84 = view.reshape %83 [1] : f32[1]   # adamw @ model.rs:11
  %85 = view.expand %84 [768] : f32[768]   # adamw @ model.rs:11
  %86 = mul %m0, %85 : f32[768]   # adamw @ model.rs:11
  %87 = const f32 0.1 : f32[]   # adamw @ model.rs:11
  %88 = view.reshape %87 [1] : f32[1]   # adamw @ model.rs:11
  %89 = view.expand %88 [768] : f32[768]   # adamw @ model.rs:11
  %90 = mul %g0, %89 : f32[768]   # adamw @ model.rs:11
  %91 = add %86, %90 : f32[768]   # adamw @ model.rs:11
  %92 = const f32 0.999 : f32[]   # adamw @ model.rs:11
  %93 = view.reshape %92 [1] : f32[1]   # adamw @ model.rs:11
  %94 = view.expand %93 [768] : f32[768]   # adamw @ model.rs:11
  %95 = mul %v0, %94 : f32[768]   # adamw @ model.rs:11
  %96 = mul %g0, %g0 : f32[768]   # adamw @ model.rs:11
  %97 = const f32 0.001 : f32[]   # adamw @ model.rs:11
  %98 = view.reshape %97 [1] : f32[1]   # adamw @ model.rs:11
  %99 = view.expand %98 [768] : f32[768]   # adamw @ model.rs:11
  %100 = mul %96, %99 : f32[768]   # adamw @ model.rs:11
  %101 = add %95, %100 : f32[768]   # adamw @ model.rs:11
  %102 = view.reshape %c2 [1] : f32[1]   # adamw @ model.rs:11
  %103 = view.expand %102 [768] : f32[768]   # adamw @ model.rs:11
  %104 = div %101, %103 : f32[768]   # adamw @ model.rs:11
  %105 = sqrt %104 : f32[768]   # adamw @ model.rs:11
  %106 = const f32 1e-08 : f32[]   # adamw @ model.rs:11
  %107 = view.reshape %106 [1] : f32[1]   # adamw @ model.rs:11
  %108 = view.expand %107 [768] : f32[768]   # adamw @ model.rs:11
  %109 = add %105, %108 : f32[768]   # adamw @ model.rs:11
  %110 = view.reshape %c1 [1] : f32[1]   # adamw @ model.rs:11
  %111 = view.expand %110 [768] : f32[768]   # adamw @ model.rs:11
  %112 = div %91, %111 : f32[768]   # adamw @ model.rs:11
  %113 = div %112, %109 : f32[768]   # adamw @ model.rs:11
  %114 = const f32 0.01 : f32[]   # adamw @ model.rs:11
  %115 = view.reshape %114 [1] : f32[1]   # adamw @ model.rs:11
  %116 = view.expand %115 [768] : f32[768]   # adamw @ model.rs:11
  %117 = mul %p0, %116 : f32[768]   # adamw @ model.rs:11
  %118 = add %113, %117 : f32[768]   # adamw @ model.rs:11
  %119 = view.reshape %lr [1] : f32[1]   # adamw @ model.rs:11
  %120 = view.expand %119 [768] : f32[768]   # adamw @ model.rs:11
  %121 = mul %118, %120 : f32[768]   # adamw @ model.rs:11
  %122 = sub %p0, %121 : f32[768]   # adamw @ model.rs:11
  %123 = mul %m1, %85 : f32[768]   # adamw @ model.rs:12
  %124 = mul %g1, %89 : f32[768]   # adamw @ model.rs:12
  %125 = add %123, %124 : f32[768]   # adamw @ model.rs:12
  %126 = mul %v1, %94 : f32[768]   # adamw @ model.rs:12
  %127 = mul %g1, %g1 : f32[768]   # adamw @ model.rs:12
  %128 = mul %127, %99 : f32[768]   # adamw @ model.rs:12
  %129 = add %126, %128 : f32[768]   # adamw @ model.rs:12
  %130 = div %129, %103 : f32[768]   # adamw @ model.rs:12
  %131 = sqrt %130 : f32[768]   # adamw @ model.rs:12
  %132 = add %131, %108 : f32[768]   # adamw @ model.rs:12
  %133 = div %125, %111 : f32[768]   # adamw @ model.rs:12
  %134 = div %133, %132 : f32[768]   # adamw @ model.rs:12
  %135 = mul %p1, %116 : f32[768]   # adamw @ model.rs:12
  %136 = add %134, %135 : f32[768]   # adamw @ model.rs:12
  %137 = mul %136, %120 : f32[768]   # adamw @ model.rs:12
  %138 = sub %p1, %137 : f32[768]   # adamw @ model.rs:12
  %139 = view.reshape %83 [1, 1] : f32[1, 1]   # adamw @ model.rs:13
  %140 = view.expand %139 [2304, 768] : f32[2304, 768]   # adamw @ model.rs:13
  %141 = mul %m2, %140 : f32[2304, 768]   # adamw @ model.rs:13
  %142 = view.reshape %87 [1, 1] : f32[1, 1]   # adamw @ model.rs:13
  %143 = view.expand %142 [2304, 768] : f32[2304, 768]   # adamw @ model.rs:13
  %144 = mul %g2, %143 : f32[2304, 768]   # adamw @ model.rs:13
  %145 = add %141, %144 : f32[2304, 768]   # adamw @ model.rs:13
  %146 = view.reshape %92 [1, 1] : f32[1, 1]   # adamw @ model.rs:13
  %147 = view.expand %146 [2304, 768] : f32[2304, 768]   # adamw @ model.rs:13
  %148 = mul %v2, %147 : f32[2304, 768]   # adamw @ model.rs:13
  %149 = mul %g2, %g2 : f32[2304, 768]   # adamw @ model.rs:13
  %150 = view.reshape %97 [1, 1] : f32[1, 1]   # adamw @ model.rs:13
  %151 = view.expand %150 [2304, 768] : f32[2304, 768]   # adamw @ model.rs:13
  %152 = mul %149, %151 : f32[2304, 768]   # adamw @ model.rs:13
  %153 = add %148, %152 : f32[2304, 768]   # adamw @ model.rs:13
  %154 = view.reshape %c2 [1, 1] : f32[1, 1]   # adamw @ model.rs:13
  %155 = view.expand %154 [2304, 768] : f32[2304, 768]   # adamw @ model.rs:13
  %156 = div %153, %155 : f32[2304, 768]   # adamw @ model.rs:13
  %157 = sqrt %156 : f32[2304, 768]   # adamw @ model.rs:13
  %158 = view.reshape %106 [1, 1] : f32[1, 1]   # adamw @ model.rs:13
  %159 = view.expand %158 [2304, 768] : f32[2304, 768]   # adamw @ model.rs:13
  %160 = add %157, %159 : f32[2304, 768]   # adamw @ model.rs:13
  %161 = view.reshape %c1 [1, 1] : f32[1, 1]   # adamw @ model.rs:13
  %162 = view.expand %161 [2304, 768] : f32[2304, 768]   # adamw @ model.rs:13
  %163 = div %145, %162 : f32[2304, 768]   # adamw @ model.rs:13
  %164 = div %163, %160 : f32[2304, 768]   # adamw @ model.rs:13
  %165 = view.reshape %114 [1, 1] : f32[1, 1]   # adamw @ model.rs:13
  %166 = view.expand %165 [2304, 768] : f32[2304, 768]   # adamw @ model.rs:13
  %167 = mul %p2, %166 : f32[2304, 768]   # adamw @ model.rs:13
  %168 = add %164, %167 : f32[2304, 768]   # adamw @ model.rs:13
  %169 = view.reshape %lr [1, 1] : f32[1, 1]   # adamw @ model.rs:13
  %170 = view.expand %169 [2304, 768] : f32[2304, 768]   # adamw @ model.rs:13
  %171 = mul %168, %170 : f32[2304, 768]   # adamw @ model.rs:13
  %172 = sub %p2, %171 : f32[2304, 768]   # adamw @ model.rs:13
  %173 = view.expand %84 [2304] : f32[2304]   # adamw @ model.rs:14
  %174 = mul %m3, %173 : f32[2304]   # adamw @ model.rs:14
  %175 = view.expand %88 [2304] : f32[2304]   # adamw @ model.rs:14
  %176 = mul %g3, %175 : f32[2304]   # adamw @ model.rs:14
  %177 = add %174, %176 : f32[2304]   # adamw @ model.rs:14
  %178 = view.expand %93 [2304] : f32[2304]   # adamw @ model.rs:14
  %179 = mul %v3, %178 : f32[2304]   # adamw @ model.rs:14
  %180 = mul %g3, %g3 : f32[2304]   # adamw @ model.rs:14
  %181 = view.expand %98 [2304] : f32[2304]   # adamw @ model.rs:14
  %182 = mul %180, %181 : f32[2304]   # adamw @ model.rs:14
  %183 = add %179, %182 : f32[2304]   # adamw @ model.rs:14
  %184 = view.expand %102 [2304] : f32[2304]   # adamw @ model.rs:14
  %185 = div %183, %184 : f32[2304]   # adamw @ model.rs:14
  %186 = sqrt %185 : f32[2304]   # adamw @ model.rs:14
  %187 = view.expand %107 [2304] : f32[2304]   # adamw @ model.rs:14
  %188 = add %186, %187 : f32[2304]   # adamw @ model.rs:14
  %189 = view.expand %110 [2304] : f32[2304]   # adamw @ model.rs:14
  %190 = div %177, %189 : f32[2304]   # adamw @ model.rs:14
  %191 = div %190, %188 : f32[2304]   # adamw @ model.rs:14
  %192 = view.expand %115 [2304] : f32[2304]   # adamw @ model.rs:14
  %193 = mul %p3, %192 : f32[2304]   # adamw @ model.rs:14
  %194 = add %191, %193 : f32[2304]   # adamw @ model.rs:14
  %195 = view.expand %119 [2304] : f32[2304]   # adamw @ model.rs:14
  %196 = mul %194, %195 : f32[2304]   # adamw @ model.rs:14
  %197 = sub %p3, %196 : f32[2304]   # adamw @ model.rs:14
  %198 = view.expand %139 [768, 768] : f32[768, 768]   # adamw @ model.rs:15
  %199 = mul %m4, %198 : f32[768, 768]   # adamw @ model.rs:15
  %200 = view.expand %142 [768, 768] : f32[768, 768]   # adamw @ model.rs:15
  %201 = mul %g4, %200 : f32[768, 768]   # adamw @ model.rs:15
  %202 = add %199, %201 : f32[768, 768]   # adamw @ model.rs:15
  %203 = view.expand %146 [768, 768] : f32[768, 768]   # adamw @ model.rs:15
  %204 = mul %v4, %203 : f32[768, 768]   # adamw @ model.rs:15
  %205 = mul %g4, %g4 : f32[768, 768]   # adamw @ model.rs:15
  %206 = view.expand %150 [768, 768] : f32[768, 768]   # adamw @ model.rs:15
  %207 = mul %205, %206 : f32[768, 768]   # adamw @ model.rs:15
  %208 = add %204, %207 : f32[768, 768]   # adamw @ model.rs:15
  %209 = view.expand %154 [768, 768] : f32[768, 768]   # adamw @ model.rs:15
  %210 = div %208, %209 : f32[768, 768]   # adamw @ model.rs:15
  %211 = sqrt %210 : f32[768, 768]   # adamw @ model.rs:15
  %212 = view.expand %158 [768, 768] : f32[768, 768]   # adamw @ model.rs:15
  %213 = add %211, %212 : f32[768, 768]   # adamw @ model.rs:15
  %214 = view.expand %161 [768, 768] : f32[768, 768]   # adamw @ model.rs:15
  %215 = div %202, %214 : f32[768, 768]   # adamw @ model.rs:15
  %216 = div %215, %213 : f32[768, 768]   # adamw @ model.rs:15
  %217 = view.expand %165 [768, 768] : f32[768, 768]   # adamw @ model.rs:15
  %218 = mul %p4, %217 : f32[768, 768]   # adamw @ model.rs:15
  %219 = add %216, %218 : f32[768, 768]   # adamw @ model.rs:15
  %220 = view.expand %169 [768, 768] : f32[768, 768]   # adamw @ model.rs:15
  %221 = mul %219, %220 : f32[768, 768]   # adamw @ model.rs:15
  %222 = sub %p4, %221 : f32[768, 768]   # adamw @ model.rs:15
  %223 = mul %m5, %85 : f32[768]   # adamw @ model.rs:16
  %224 = mul %g5, %89 : f32[768]   # adamw @ model.rs:16
  %225 = add %223, %224 : f32[768]   # adamw @ model.rs:16
  %226 = mul %v5, %94 : f32[768]   # adamw @ model.rs:16
  %227 = mul %g5, %g5 : f32[768]   # adamw @ model.rs:16
  %228 = mul %227, %99 : f32[768]   # adamw @ model.rs:16
  %229 = add %226, %228 : f32[768]   # adamw @ model.rs:16
  %230 = div %229, %103 : f32[768]   # adamw @ model.rs:16
  %231 = sqrt %230 : f32[768]   # adamw @ model.rs:16
  %232 = add %231, %108 : f32[768]   # adamw @ model.rs:16
  %233 = div %225, %111 : f32[768]   # adamw @ model.rs:16
  %234 = div %233, %232 : f32[768]   # adamw @ model.rs:16
  %235 = mul %p5, %116 : f32[768]   # adamw @ model.rs:16
  %236 = add %234, %235 : f32[768]   # adamw @ model.rs:16
  %237 = mul %236, %120 : f32[768]   # adamw @ model.rs:16
  %238 = sub %p5, %237 : f32[768]   # adamw @ model.rs:16
  %239 = view.expand %139 [3072, 768] : f32[3072, 768]   # adamw @ model.rs:17
  %240 = mul %m6, %239 : f32[3072, 768]   # adamw @ model.rs:17
  %241 = view.expand %142 [3072, 768] : f32[3072, 768]   # adamw @ model.rs:17
  %242 = mul %g6, %241 : f32[3072, 768]   # adamw @ model.rs:17
  %243 = add %240, %242 : f32[3072, 768]   # adamw @ model.rs:17
  %244 = view.expand %146 [3072, 768] : f32[3072, 768]   # adamw @ model.rs:17
  %245 = mul %v6, %244 : f32[3072, 768]   # adamw @ model.rs:17
  %246 = mul %g6, %g6 : f32[3072, 768]   # adamw @ model.rs:17
  %247 = view.expand %150 [3072, 768] : f32[3072, 768]   # adamw @ model.rs:17
  %248 = mul %246, %247 : f32[3072, 768]   # adamw @ model.rs:17
  %249 = add %245, %248 : f32[3072, 768]   # adamw @ model.rs:17
  %250 = view.expand %154 [3072, 768] : f32[3072, 768]   # adamw @ model.rs:17
  %251 = div %249, %250 : f32[3072, 768]   # adamw @ model.rs:17
  %252 = sqrt %251 : f32[3072, 768]   # adamw @ model.rs:17
  %253 = view.expand %158 [3072, 768] : f32[3072, 768]   # adamw @ model.rs:17
  %254 = add %252, %253 : f32[3072, 768]   # adamw @ model.rs:17
  %255 = view.expand %161 [3072, 768] : f32[3072, 768]   # adamw @ model.rs:17
  %256 = div %243, %255 : f32[3072, 768]   # adamw @ model.rs:17
  %257 = div %256, %254 : f32[3072, 768]   # adamw @ model.rs:17
  %258 = view.expand %165 [3072, 768] : f32[3072, 768]   # adamw @ model.rs:17
  %259 = mul %p6, %258 : f32[3072, 768]   # adamw @ model.rs:17
  %260 = add %257, %259 : f32[3072, 768]   # adamw @ model.rs:17
  %261 = view.expand %169 [3072, 768] : f32[3072, 768]   # adamw @ model.rs:17
  %262 = mul %260, %261 : f32[3072, 768]   # adamw @ model.rs:17
  %263 = sub %p6, %262 : f32[3072, 768]   # adamw @ model.rs:17
  %264 = view.expand %84 [3072] : f32[3072]   # adamw @ model.rs:18
  %265 = mul %m7, %264 : f32[3072]   # adamw @ model.rs:18
  %266 = view.expand %88 [3072] : f32[3072]   # adamw @ model.rs:18
  %267 = mul %g7, %266 : f32[3072]   # adamw @ model.rs:18
  %268 = add %265, %267 : f32[3072]   # adamw @ model.rs:18
  %269 = view.expand %93 [3072] : f32[3072]   # adamw @ model.rs:18
  %270 = mul %v7, %269 : f32[3072]   # adamw @ model.rs:18
  %271 = mul %g7, %g7 : f32[3072]   # adamw @ model.rs:18
  %272 = view.expand %98 [3072] : f32[3072]   # adamw @ model.rs:18
  %273 = mul %271, %272 : f32[3072]   # adamw @ model.rs:18
  %274 = add %270, %273 : f32[3072]   # adamw @ model.rs:18
  %275 = view.expand %102 [3072] : f32[3072]   # adamw @ model.rs:18
  %276 = div %274, %275 : f32[3072]   # adamw @ model.rs:18
  %277 = sqrt %276 : f32[3072]   # adamw @ model.rs:18
  %278 = view.expand %107 [3072] : f32[3072]   # adamw @ model.rs:18
  %279 = add %277, %278 : f32[3072]   # adamw @ model.rs:18
  %280 = view.expand %110 [3072] : f32[3072]   # adamw @ model.rs:18
  %281 = div %268, %280 : f32[3072]   # adamw @ model.rs:18
  %282 = div %281, %279 : f32[3072]   # adamw @ model.rs:18
  %283 = view.expand %115 [3072] : f32[3072]   # adamw @ model.rs:18
  %284 = mul %p7, %283 : f32[3072]   # adamw @ model.rs:18
  %285 = add %282, %284 : f32[3072]   # adamw @ model.rs:18
  %286 = view.expand %119 [3072] : f32[3072]   # adamw @ model.rs:18
  %287 = mul %285, %286 : f32[3072]   # adamw @ model.rs:18
  %288 = sub %p7, %287 : f32[3072]   # adamw @ model.rs:18
  %289 = view.expand %139 [768, 3072] : f32[768, 3072]   # adamw @ model.rs:19
  %290 = mul %m8, %289 : f32[768, 3072]   # adamw @ model.rs:19
  %291 = view.expand %142 [768, 3072] : f32[768, 3072]   # adamw @ model.rs:19
  %292 = mul %g8, %291 : f32[768, 3072]   # adamw @ model.rs:19
  %293 = add %290, %292 : f32[768, 3072]   # adamw @ model.rs:19
  %294 = view.expand %146 [768, 3072] : f32[768, 3072]   # adamw @ model.rs:19
  %295 = mul %v8, %294 : f32[768, 3072]   # adamw @ model.rs:19
  %296 = mul %g8, %g8 : f32[768, 3072]   # adamw @ model.rs:19
  %297 = view.expand %150 [768, 3072] : f32[768, 3072]   # adamw @ model.rs:19
  %298 = mul %296, %297 : f32[768, 3072]   # adamw @ model.rs:19
  %299 = add %295, %298 : f32[768, 3072]   # adamw @ model.rs:19
  %300 = view.expand %154 [768, 3072] : f32[768, 3072]   # adamw @ model.rs:19
  %301 = div %299, %300 : f32[768, 3072]   # adamw @ model.rs:19
  %302 = sqrt %301 : f32[768, 3072]   # adamw @ model.rs:19
  %303 = view.expand %158 [768, 3072] : f32[768, 3072]   # adamw @ model.rs:19
  %304 = add %302, %303 : f32[768, 3072]   # adamw @ model.rs:19
  %305 = view.expand %161 [768, 3072] : f32[768, 3072]   # adamw @ model.rs:19
  %306 = div %293, %305 : f32[768, 3072]   # adamw @ model.rs:19
  %307 = div %306, %304 : f32[768, 3072]   # adamw @ model.rs:19
  %308 = view.expand %165 [768, 3072] : f32[768, 3072]   # adamw @ model.rs:19
  %309 = mul %p8, %308 : f32[768, 3072]   # adamw @ model.rs:19
  %310 = add %307, %309 : f32[768, 3072]   # adamw @ model.rs:19
  %311 = view.expand %169 [768, 3072] : f32[768, 3072]   # adamw @ model.rs:19
  %312 = mul %310, %311 : f32[768, 3072]   # adamw @ model.rs:19
  %313 = sub %p8, %312 : f32[768, 3072]   # adamw @ model.rs:19
  %314 = mul %m9, %85 : f32[768]   # adamw @ model.rs:20
  %315 = mul %g9, %89 : f32[768]   # adamw @ model.rs:20
  %316 = add %314, %315 : f32[768]   # adamw @ model.rs:20
  %317 = mul %v9, %94 : f32[768]   # adamw @ model.rs:20
  %318 = mul %g9, %g9 : f32[768]   # adamw @ model.rs:20
  %319 = mul %318, %99 : f32[768]   # adamw @ model.rs:20
  %320 = add %317, %319 : f32[768]   # adamw @ model.rs:20
  %321 = div %320, %103 : f32[768]   # adamw @ model.rs:20
  %322 = sqrt %321 : f32[768]   # adamw @ model.rs:20
  %323 = add %322, %108 : f32[768]   # adamw @ model.rs:20
  %324 = div %316, %111 : f32[768]   # adamw @ model.rs:20
  %325 = div %324, %323 : f32[768]   # adamw @ model.rs:20
  %326 = mul %p9, %116 : f32[768]   # adamw @ model.rs:20
  %327 = add %325, %326 : f32[768]   # adamw @ model.rs:20
  %328 = mul %327, %120 : f32[768]   # adamw @ model.rs:20
  %329 = sub %p9, %328 : f32[768]   # adamw @ model.rs:20
  %330 = mul %m10, %85 : f32[768]   # adamw @ model.rs:21
  %331 = mul %g10, %89 : f32[768]   # adamw @ model.rs:21
  %332 = add %330, %331 : f32[768]   # adamw @ model.rs:21
  %333 = mul %v10, %94 : f32[768]   # adamw @ model.rs:21
  %334 = mul %g10, %g10 : f32[768]   # adamw @ model.rs:21
  %335 = mul %334, %99 : f32[768]   # adamw @ model.rs:21
  %336 = add %333, %335 : f32[768]   # adamw @ model.rs:21
  %337 = div %336, %103 : f32[768]   # adamw @ model.rs:21
  %338 = sqrt %337 : f32[768]   # adamw @ model.rs:21
  %339 = add %338, %108 : f32[768]   # adamw @ model.rs:21
  %340 = div %332, %111 : f32[768]   # adamw @ model.rs:21
  %341 = div %340, %339 : f32[768]   # adamw @ model.rs:21
  %342 = mul %p10, %116 : f32[768]   # adamw @ model.rs:21
  %343 = add %341, %342 : f32[768]   # adamw @ model.rs:21
  %344 = mul %343, %120 : f32[768]   # adamw @ model.rs:21
  %345 = sub %p10, %344 : f32[768]   # adamw @ model.rs:21
  %346 = mul %m11, %85 : f32[768]   # adamw @ model.rs:22
  %347 = mul %g11, %89 : f32[768]   # adamw @ model.rs:22
  %348 = add %346, %347 : f32[768]   # adamw @ model.rs:22
  %349 = mul %v11, %94 : f32[768]   # adamw @ model.rs:22
  %350 = mul %g11, %g11 : f32[768]   # adamw @ model.rs:22
  %351 = mul %350, %99 : f32[768]   # adamw @ model.rs:22
  %352 = add %349, %351 : f32[768]   # adamw @ model.rs:22
  %353 = div %352, %103 : f32[768]   # adamw @ model.rs:22
  %354 = sqrt %353 : f32[768]   # adamw @ model.rs:22
  %355 = add %354, %108 : f32[768]   # adamw @ model.rs:22
  %356 = div %348, %111 : f32[768]   # adamw @ model.rs:22
  %357 = div %356, %355 : f32[768]   # adamw @ model.rs:22
  %358 = mul %p11, %116 : f32[768]   # adamw @ model.rs:22
  %359 = add %357, %358 : f32[768]   # adamw @ model.rs:22
  %360 = mul %359, %120 : f32[768]   # adamw @ model.rs:22
  %361 = sub %p11, %360 : f32[768]   # adamw @ model.rs:22
  %362 = mul %m12, %140 : f32[2304, 768]   # adamw @ model.rs:23
  %363 = mul %g12, %143 : f32[2304, 768]   # adamw @ model.rs:23
  %364 = add %362, %363 : f32[2304, 768]   # adamw @ model.rs:23
  %365 = mul %v12, %147 : f32[2304, 768]   # adamw @ model.rs:23
  %366 = mul %g12, %g12 : f32[2304, 768]   # adamw @ model.rs:23
  %367 = mul %366, %151 : f32[2304, 768]   # adamw @ model.rs:23
  %368 = add %365, %367 : f32[2304, 768]   # adamw @ model.rs:23
  %369 = div %368, %155 : f32[2304, 768]   # adamw @ model.rs:23
  %370 = sqrt %369 : f32[2304, 768]   # adamw @ model.rs:23
  %371 = add %370, %159 : f32[2304, 768]   # adamw @ model.rs:23
  %372 = div %364, %162 : f32[2304, 768]   # adamw @ model.rs:23
  %373 = div %372, %371 : f32[2304, 768]   # adamw @ model.rs:23
  %374 = mul %p12, %166 : f32[2304, 768]   # adamw @ model.rs:23
  %375 = add %373, %374 : f32[2304, 768]   # adamw @ model.rs:23
  %376 = mul %375, %170 : f32[2304, 768]   # adamw @ model.rs:23
  %377 = sub %p12, %376 : f32[2304, 768]   # adamw @ model.rs:23
  %378 = mul %m13, %173 : f32[2304]   # adamw @ model.rs:24
  %379 = mul %g13, %175 : f32[2304]   # adamw @ model.rs:24
  %380 = add %378, %379 : f32[2304]   # adamw @ model.rs:24
  %381 = mul %v13, %178 : f32[2304]   # adamw @ model.rs:24
  %382 = mul %g13, %g13 : f32[2304]   # adamw @ model.rs:24
  %383 = mul %382, %181 : f32[2304]   # adamw @ model.rs:24
  %384 = add %381, %383 : f32[2304]   # adamw @ model.rs:24
  %385 = div %384, %184 : f32[2304]   # adamw @ model.rs:24
  %386 = sqrt %385 : f32[2304]   # adamw @ model.rs:24
  %387 = add %386, %187 : f32[2304]   # adamw @ model.rs:24
  %388 = div %380, %189 : f32[2304]   # adamw @ model.rs:24
  %389 = div %388, %387 : f32[2304]   # adamw @ model.rs:24
  %390 = mul %p13, %192 : f32[2304]   # adamw @ model.rs:24
  %391 = add %389, %390 : f32[2304]   # adamw @ model.rs:24
  %392 = mul %391, %195 : f32[2304]   # adamw @ model.rs:24
  %393 = sub %p13, %392 : f32[2304]   # adamw @ model.rs:24
  %394 = mul %m14, %198 : f32[768, 768]   # adamw @ model.rs:25
  %395 = mul %g14, %200 : f32[768, 768]   # adamw @ model.rs:25
  %396 = add %394, %395 : f32[768, 768]   # adamw @ model.rs:25
  %397 = mul %v14, %203 : f32[768, 768]   # adamw @ model.rs:25
  %398 = mul %g14, %g14 : f32[768, 768]   # adamw @ model.rs:25
  %399 = mul %398, %206 : f32[768, 768]   # adamw @ model.rs:25
  %400 = add %397, %399 : f32[768, 768]   # adamw @ model.rs:25
  %401 = div %400, %209 : f32[768, 768]   # adamw @ model.rs:25
  %402 = sqrt %401 : f32[768, 768]   # adamw @ model.rs:25
  %403 = add %402, %212 : f32[768, 768]   # adamw @ model.rs:25
  %404 = div %396, %214 : f32[768, 768]   # adamw @ model.rs:25
  %405 = div %404, %403 : f32[768, 768]   # adamw @ model.rs:25
  %406 = mul %p14, %217 : f32[768, 768]   # adamw @ model.rs:25
  %407 = add %405, %406 : f32[768, 768]   # adamw @ model.rs:25
  %408 = mul %407, %220 : f32[768, 768]   # adamw @ model.rs:25
  %409 = sub %p14, %408 : f32[768, 768]   # adamw @ model.rs:25
  %410 = mul %m15, %85 : f32[768]   # adamw @ model.rs:26
  %411 = mul %g15, %89 : f32[768]   # adamw @ model.rs:26
  %412 = add %410, %411 : f32[768]   # adamw @ model.rs:26
  %413 = mul %v15, %94 : f32[768]   # adamw @ model.rs:26
  %414 = mul %g15, %g15 : f32[768]   # adamw @ model.rs:26
  %415 = mul %414, %99 : f32[768]   # adamw @ model.rs:26
  %416 = add %413, %415 : f32[768]   # adamw @ model.rs:26
  %417 = div %416, %103 : f32[768]   # adamw @ model.rs:26
  %418 = sqrt %417 : f32[768]   # adamw @ model.rs:26
  %419 = add %418, %108 : f32[768]   # adamw @ model.rs:26
  %420 = div %412, %111 : f32[768]   # adamw @ model.rs:26
  %421 = div %420, %419 : f32[768]   # adamw @ model.rs:26
  %422 = mul %p15, %116 : f32[768]   # adamw @ model.rs:26
  %423 = add %421, %422 : f32[768]   # adamw @ model.rs:26
  %424 = mul %423, %120 : f32[768]   # adamw @ model.rs:26
  %425 = sub %p15, %424 : f32[768]   # adamw @ model.rs:26
  %426 = mul %m16, %239 : f32[3072, 768]   # adamw @ model.rs:27
  %427 = mul %g16, %241 : f32[3072, 768]   # adamw @ model.rs:27
  %428 = add %426, %427 : f32[3072, 768]   # adamw @ model.rs:27
  %429 = mul %v16, %244 : f32[3072, 768]   # adamw @ model.rs:27
  %430 = mul %g16, %g16 : f32[3072, 768]   # adamw @ model.rs:27
  %431 = mul %430, %247 : f32[3072, 768]   # adamw @ model.rs:27
  %432 = add %429, %431 : f32[3072, 768]   # adamw @ model.rs:27
  %433 = div %432, %250 : f32[3072, 768]   # adamw @ model.rs:27
  %434 = sqrt %433 : f32[3072, 768]   # adamw @ model.rs:27
  %435 = add %434, %253 : f32[3072, 768]   # adamw @ model.rs:27
  %436 = div %428, %255 : f32[3072, 768]   # adamw @ model.rs:27
  %437 = div %436, %435 : f32[3072, 768]   # adamw @ model.rs:27
  %438 = mul %p16, %258 : f32[3072, 768]   # adamw @ model.rs:27
  %439 = add %437, %438 : f32[3072, 768]   # adamw @ model.rs:27
  %440 = mul %439, %261 : f32[3072, 768]   # adamw @ model.rs:27
  %441 = sub %p16, %440 : f32[3072, 768]   # adamw @ model.rs:27
  %442 = mul %m17, %264 : f32[3072]   # adamw @ model.rs:28
  %443 = mul %g17, %266 : f32[3072]   # adamw @ model.rs:28
  %444 = add %442, %443 : f32[3072]   # adamw @ model.rs:28
  %445 = mul %v17, %269 : f32[3072]   # adamw @ model.rs:28
  %446 = mul %g17, %g17 : f32[3072]   # adamw @ model.rs:28
  %447 = mul %446, %272 : f32[3072]   # adamw @ model.rs:28
  %448 = add %445, %447 : f32[3072]   # adamw @ model.rs:28
  %449 = div %448, %275 : f32[3072]   # adamw @ model.rs:28
  %450 = sqrt %449 : f32[3072]   # adamw @ model.rs:28
  %451 = add %450, %278 : f32[3072]   # adamw @ model.rs:28
  %452 = div %444, %280 : f32[3072]   # adamw @ model.rs:28
  %453 = div %452, %451 : f32[3072]   # adamw @ model.rs:28
  %454 = mul %p17, %283 : f32[3072]   # adamw @ model.rs:28
  %455 = add %453, %454 : f32[3072]   # adamw @ model.rs:28
  %456 = mul %455, %286 : f32[3072]   # adamw @ model.rs:28
  %457 = sub %p17, %456 : f32[3072]   # adamw @ model.rs:28
  %458 = mul %m18, %289 : f32[768, 3072]   # adamw @ model.rs:29
  %459 = mul %g18, %291 : f32[768, 3072]   # adamw @ model.rs:29
  %460 = add %458, %459 : f32[768, 3072]   # adamw @ model.rs:29
  %461 = mul %v18, %294 : f32[768, 3072]   # adamw @ model.rs:29
  %462 = mul %g18, %g18 : f32[768, 3072]   # adamw @ model.rs:29
  %463 = mul %462, %297 : f32[768, 3072]   # adamw @ model.rs:29
  %464 = add %461, %463 : f32[768, 3072]   # adamw @ model.rs:29
  %465 = div %464, %300 : f32[768, 3072]   # adamw @ model.rs:29
  %466 = sqrt %465 : f32[768, 3072]   # adamw @ model.rs:29
  %467 = add %466, %303 : f32[768, 3072]   # adamw @ model.rs:29
  %468 = div %460, %305 : f32[768, 3072]   # adamw @ model.rs:29
  %469 = div %468, %467 : f32[768, 3072]   # adamw @ model.rs:29
  %470 = mul %p18, %308 : f32[768, 3072]   # adamw @ model.rs:29
  %471 = add %469, %470 : f32[768, 3072]   # adamw @ model.rs:29
  %472 = mul %471, %311 : f32[768, 3072]   # adamw @ model.rs:29
  %473 = sub %p18, %472 : f32[768, 3072]   # adamw @ model.rs:29
  %474 = mul %m19, %85 : f32[768]   # adamw @ model.rs:30
  %475 = mul %g19, %89 : f32[768]   # adamw @ model.rs:30
  %476 = add %474, %475 : f32[768]   # adamw @ model.rs:30
  %477 = mul %v19, %94 : f32[768]   # adamw @ model.rs:30
  %478 = mul %g19, %g19 : f32[768]   # adamw @ model.rs:30
  %479 = mul %478, %99 : f32[768]   # adamw @ model.rs:30
  %480 = add %477, %479 : f32[768]   # adamw @ model.rs:30
  %481 = div %480, %103 : f32[768]   # adamw @ model.rs:30
  %482 = sqrt %481 : f32[768]   # adamw @ model.rs:30
  %483 = add %482, %108 : f32[768]   # adamw @ model.rs:30
  %484 = div %476, %111 : f32[768]   # adamw @ model.rs:30
  %485 = div %484, %483 : f32[768]   # adamw @ model.rs:30
  %486 = mul %p19, %116 : f32[768]   # adamw @ model.rs:30
  %487 = add %485, %486 : f32[768]   # adamw @ model.rs:30
  %488 = mul %487, %120 : f32[768]   # adamw @ model.rs:30
  %489 = sub %p19, %488 : f32[768]   # adamw @ model.rs:30
  return p0 = %122, m0 = %91, v0 = %101, p1 = %138, m1 = %125, v1 = %129, p2 = %172, m2 = %145, v2 = %153, p3 = %197, m3 = %177, v3 = %183, p4 = %222, m4 = %202, v4 = %208, p5 = %238, m5 = %225, v5 = %229, p6 = %263, m6 = %243, v6 = %249, p7 = %288, m7 = %268, v7 = %274, p8 = %313, m8 = %293, v8 = %299, p9 = %329, m9 = %316, v9 = %320, p10 = %345, m10 = %332, v10 = %336, p11 = %361, m11 = %348, v11 = %352, p12 = %377, m12 = %364, v12 = %368, p13 = %393, m13 = %380, v13 = %384, p14 = %409, m14 = %396, v14 = %400, p15 = %425, m15 = %412, v15 = %416, p16 = %441, m16 = %428, v16 = %432, p17 = %457, m17 = %444, v17 = %448, p18 = %473, m18 = %460, v18 = %464, p19 = %489, m19 = %476, v19 = %480
}
----
1 kernels
k0_adamw: Pointwise (3072 × 768 | ) beside (768 × 3072 | ) beside (3072 × 768 | ) beside (768 × 3072 | ) beside (2304 × 768 | ) beside (2304 × 768 | ) beside (768 × 768 | ) beside (768 × 768 | ) beside (3072 | ) beside (3072 | ) beside (2304 | ) beside (2304 | ) beside (768 | ) beside (768 | ) beside (768 | ) beside (768 | ) beside (768 | ) members %86 %90 %91 %95 %96 %100 %101 %104 %105 %109 %112 %113 %117 %118 %121 %122 %123 %124 %125 %126 %127 %128 %129 %130 %131 %132 %133 %134 %135 %136 %137 %138 %141 %144 %145 %148 %149 %152 %153 %156 %157 %160 %163 %164 %167 %168 %171 %172 %174 %176 %177 %179 %180 %182 %183 %185 %186 %188 %190 %191 %193 %194 %196 %197 %199 %201 %202 %204 %205 %207 %208 %210 %211 %213 %215 %216 %218 %219 %221 %222 %223 %224 %225 %226 %227 %228 %229 %230 %231 %232 %233 %234 %235 %236 %237 %238 %240 %242 %243 %245 %246 %248 %249 %251 %252 %254 %256 %257 %259 %260 %262 %263 %265 %267 %268 %270 %271 %273 %274 %276 %277 %279 %281 %282 %284 %285 %287 %288 %290 %292 %293 %295 %296 %298 %299 %301 %302 %304 %306 %307 %309 %310 %312 %313 %314 %315 %316 %317 %318 %319 %320 %321 %322 %323 %324 %325 %326 %327 %328 %329 %330 %331 %332 %333 %334 %335 %336 %337 %338 %339 %340 %341 %342 %343 %344 %345 %346 %347 %348 %349 %350 %351 %352 %353 %354 %355 %356 %357 %358 %359 %360 %361 %362 %363 %364 %365 %366 %367 %368 %369 %370 %371 %372 %373 %374 %375 %376 %377 %378 %379 %380 %381 %382 %383 %384 %385 %386 %387 %388 %389 %390 %391 %392 %393 %394 %395 %396 %397 %398 %399 %400 %401 %402 %403 %404 %405 %406 %407 %408 %409 %410 %411 %412 %413 %414 %415 %416 %417 %418 %419 %420 %421 %422 %423 %424 %425 %426 %427 %428 %429 %430 %431 %432 %433 %434 %435 %436 %437 %438 %439 %440 %441 %442 %443 %444 %445 %446 %447 %448 %449 %450 %451 %452 %453 %454 %455 %456 %457 %458 %459 %460 %461 %462 %463 %464 %465 %466 %467 %468 %469 %470 %471 %472 %473 %474 %475 %476 %477 %478 %479 %480 %481 %482 %483 %484 %485 %486 %487 %488 %489 -> %243 %249 %263 %293 %299 %313 %428 %432 %441 %460 %464 %473 %145 %153 %172 %364 %368 %377 %202 %208 %222 %396 %400 %409 %268 %274 %288 %444 %448 %457 %177 %183 %197 %380 %384 %393 %225 %229 %238 %412 %416 %425 %476 %480 %489 %91 %101 %122 %125 %129 %138 %316 %320 %329 %332 %336 %345 %348 %352 %361; read 226762956 written 170072064 flops 283453440
