# expect: rejected
# problem: complexity
# mistake: counts keys and not values
# diagnosis: cache-keys-only
ANSWERS = {
    "attention_core": "O(n^2 d)",
    "full_layer": "O(n^2 d + n d^2)",
    "weights_memory": "O(h n^2)",
    "dominant_small_n": "O(n d^2)",
    "decode_step": "O(T d + d^2)",
    "rnn_layer": "O(n d^2)",
    "conv_layer": "O(k n d^2)",
    "flash_extra_memory": "O(n)",
    "sliding_window": "O(n w d)",
    "gqa_cache_fraction": "G/h",
    "gqa_parameters": "2*d**2 + 2*d**2*G/h",
}


def mha_flops(B, n, d, h):
    return B * (8 * n * d**2 + 4 * n**2 * d)


def mha_parameters(d, bias):
    return 4 * d * d + (4 * d if bias else 0)


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    return B * n * N * G * head_dim * bytes_per_number


def decode_step_flops(B, T, d, h):
    return B * (8 * d**2 + 4 * (T + 1) * d)
