# row gpt2 forward f32 [1, 64]
# ruler read
# model gpt2
