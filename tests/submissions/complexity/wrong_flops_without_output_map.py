# expect: rejected
# problem: complexity
# mistake: three projections instead of four
# diagnosis: flops-three-projections
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
    "gqa_parameters": "2*d**2 + 2*d**2*G/h",
}


def mha_flops(B, n, d, h):
    qkv = 3 * 2 * n * d * d
    core = 2 * 2 * n * n * d
    return B * (qkv + core)


def mha_parameters(d, bias):
    return 4 * d * d + (4 * d if bias else 0)


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    return 2 * B * n * N * G * head_dim * bytes_per_number


def decode_step_flops(B, T, d, h):
    return B * (8 * d**2 + 4 * (T + 1) * d)
