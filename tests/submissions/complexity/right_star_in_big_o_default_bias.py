# expect: accepted
# problem: complexity
print("复杂度答案")

ANSWERS = {}
ANSWERS["attention_core"] = "O(n^2*d)"          # 注意力核心
ANSWERS["full_layer"] = "O(n^2*d + n*d^2)"      # 加上投影
ANSWERS["weights_memory"] = "O(h*n^2)"
ANSWERS["dominant_small_n"] = "O(n*d^2)"        # n 远小于 d 时投影占主导
ANSWERS["decode_step"] = "O(T*d + d^2)"
ANSWERS["rnn_layer"] = "O(n*d^2)"
ANSWERS["conv_layer"] = "O(k*n*d^2)"
ANSWERS["flash_extra_memory"] = "O(n)"
ANSWERS["sliding_window"] = "O(n*w*d)"
ANSWERS["gqa_cache_fraction"] = "G/h"
ANSWERS["gqa_parameters"] = "2*d**2 + 2*d**2*G/h"


def mha_flops(B, n, d, h):
    dk = d / h
    return B * 4 * 2 * n * d**2 + B * h * 2 * (2 * n**2 * dk)


def mha_parameters(d, bias=True):
    return 4 * d**2 + (4 * d if bias else 0)


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number=2):
    return 2 * B * n * N * G * head_dim * bytes_per_number


def decode_step_flops(B, T, d, h):
    return B * 8.0 * d**2 + B * 4.0 * (T + 1) * d
