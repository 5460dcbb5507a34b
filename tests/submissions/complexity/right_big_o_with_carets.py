# expect: accepted
# problem: complexity
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
    "gqa_cache_fraction": "G / h",
    "gqa_parameters": "2 d^2 + 2 d^2 G / h",
}


def mha_flops(B, n, d, h):
    projections = 4 * 2 * n * d * d
    d_head = d / h
    scores = h * 2 * n * n * d_head
    values = h * 2 * n * n * d_head
    return B * (projections + scores + values)  # a float, but a whole one


def mha_parameters(d, bias):
    return 4 * (d * d + d * int(bias))


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    per_token = 2 * G * head_dim
    return float(B * n * N * per_token * bytes_per_number)


def decode_step_flops(B, T, d, h):
    return B * (2 * 4 * d**2 + 2 * 2 * (T + 1) * d)
