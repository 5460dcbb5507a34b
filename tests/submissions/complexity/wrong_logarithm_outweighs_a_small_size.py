# expect: rejected
# problem: complexity
# mistake: terms with a logarithm, which outweigh the rest where the other size stays small
ANSWERS = {
    "attention_core": "n^2 d",
    "full_layer": "n^2 d + n d^2",
    "weights_memory": "h n^2",
    "dominant_small_n": "n d^2",
    "decode_step": "T d + d^2 + T log(T)",
    "rnn_layer": "n d^2 + n d log n",
    "conv_layer": "n d^2 (k + log n)",
    "flash_extra_memory": "n + log d",
    "sliding_window": "n w d",
    "gqa_cache_fraction": "G/h",
    "gqa_parameters": "2*d**2 + 2*d**2*G/h",
}


def mha_flops(B, n, d, h):
    return 4 * B * n * d * (2 * d + n)


def mha_parameters(d, bias):
    return 4 * d**2 + 4 * d * bias


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    return B * n * N * G * head_dim * bytes_per_number * 2


def decode_step_flops(B, T, d, h):
    return 4 * B * d * (2 * d + T + 1)
