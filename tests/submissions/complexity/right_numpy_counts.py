# expect: accepted
# problem: complexity
import numpy as np

ANSWERS = {
    "attention_core": "O(n^{2} \\cdot d)",
    "full_layer": "O(d n (n + d))",
    "weights_memory": "O(n * n * h)",
    "dominant_small_n": "O(n * d * d)",
    "decode_step": "O((T + d) * d)",
    "rnn_layer": "O(n * d * d)",
    "conv_layer": "O(k * n * d * d)",
    "flash_extra_memory": "O(n)",
    "sliding_window": "O(n * w * d)",
    "gqa_cache_fraction": "1 / (h / G)",
    "gqa_parameters": "2 * d * (d + G * (d / h))",
}


def mha_flops(B, n, d, h):
    maps = np.prod([4, 2, B, n, d, d])
    core = np.prod([2, 2, B, h, n, n, d // h])
    return maps + core


def mha_parameters(d, bias):
    shapes = [(d, d)] * 4 + [(d,)] * (4 if bias else 0)
    return sum(np.prod(shape) for shape in shapes)


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    return np.prod([2, N, B, G, n, head_dim, bytes_per_number])


def decode_step_flops(B, T, d, h):
    return np.float64(8 * B * d**2 + 4 * B * (T + 1) * d)
