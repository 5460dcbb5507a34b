'''
title = "mha_parameters never counts the biases"
killed_by = "mha-parameters"
explanation = """
With biases each of the four maps has d more parameters."""
hint = "Call it with bias=True and with bias=False."
'''

ANSWERS = {
    "attention_core": "n**2*d",
    "full_layer": "n**2*d + n*d**2",
    "weights_memory": "h*n**2",
    "dominant_small_n": "n*d**2",
    "decode_step": "T*d + d**2",
    "rnn_layer": "n*d**2",
    "conv_layer": "k*n*d**2",
    "flash_extra_memory": "n",
    "sliding_window": "n*w*d",
    "gqa_cache_fraction": "G/h",
}


def mha_flops(B, n, d, h):
    head_dim = _head_dim(d, h)
    projections = 4 * 2 * B * n * d * d
    core = 2 * 2 * B * h * n * n * head_dim
    return projections + core


def mha_parameters(d, bias):
    return 4 * d * d


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    return 2 * B * n * N * G * head_dim * bytes_per_number


def decode_step_flops(B, T, d, h):
    head_dim = _head_dim(d, h)
    projections = 4 * 2 * B * d * d
    core = 2 * 2 * B * h * (T + 1) * head_dim
    return projections + core


def _head_dim(d, h):
    if h < 1 or d % h:
        raise ValueError("the heads do not divide the width")
    return d // h
