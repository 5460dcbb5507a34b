# expect: accepted
# problem: complexity
ANSWERS = {
    "attention_core": "4*n**2*d + 5*n**2",
    "full_layer": "8*n*d**2 + 4*n**2*d + n*d",
    "weights_memory": "4*h*n**2",
    "dominant_small_n": "8*n*d**2",
    "decode_step": "8*d**2 + 4*(T+1)*d",
    "rnn_layer": "2*n*d**2 + n*d",
    "conv_layer": "2*k*n*d**2",
    "flash_extra_memory": "2*n",
    "sliding_window": "4*n*w*d",
    "gqa_cache_fraction": "2*G/(2*h)",
    "gqa_parameters": "4*d*d - 2*d*d*(h - G)/h",
}


def mha_flops(B, n, d, h):
    return 4 * B * n * d * (2 * d + n)


def mha_parameters(d, bias):
    return 4 * d**2 + 4 * d * bias


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    return B * n * N * G * head_dim * bytes_per_number * 2


def decode_step_flops(B, T, d, h):
    return 4 * B * d * (2 * d + T + 1)
