# expect: accepted
# problem: complexity
ANSWERS = {
    "attention_core": "n²·d",
    "full_layer": "n²·d + n·d²",
    "weights_memory": "h·n²",
    "dominant_small_n": "n·d²",
    "decode_step": "T·d + d²",
    "rnn_layer": "n·d²",
    "conv_layer": "k·n·d²",
    "flash_extra_memory": "n",
    "sliding_window": "n·w·d",
    "gqa_cache_fraction": "G/h",
    "gqa_parameters": "2·d² + 2·d²·G/h",
}

# 每次乘加算 2 次浮点运算
mha_flops = lambda B, n, d, h: 2 * B * (4 * n * d * d + 2 * n * n * d)
mha_parameters = lambda d, bias: 4 * d * (d + bool(bias))
kv_cache_bytes = lambda B, n, N, G, head_dim, bytes_per_number: 2 * N * B * G * n * head_dim * bytes_per_number
decode_step_flops = lambda B, T, d, h: 2 * B * (4 * d * d + 2 * (T + 1) * d)
