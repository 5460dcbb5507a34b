# expect: rejected
# problem: complexity
# mistake: h/G instead of G/h
# diagnosis: cache-fraction-inverted
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
    "gqa_cache_fraction": "h/G",
    "gqa_parameters": "2*d**2 + 2*d**2*G/h",
}


def mha_flops(B, n, d, h):
    return B * (8 * n * d**2 + 4 * n**2 * d)


def mha_parameters(d, bias):
    return 4 * d * d + (4 * d if bias else 0)


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    return 2 * B * n * N * G * head_dim * bytes_per_number


def decode_step_flops(B, T, d, h):
    return B * (8 * d**2 + 4 * (T + 1) * d)
