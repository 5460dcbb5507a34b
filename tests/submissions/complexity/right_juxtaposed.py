# expect: accepted
# problem: complexity
# extra ids of my own are there for my notes
ANSWERS = {
    "attention_core": "n²d",
    "full_layer": "n²d + nd²",
    "weights_memory": "hn²",
    "dominant_small_n": "nd²",
    "decode_step": "Td + d²",
    "rnn_layer": "nd²",
    "conv_layer": "knd²",
    "flash_extra_memory": "n",
    "sliding_window": "nwd",
    "gqa_cache_fraction": "G/h",
    "gqa_parameters": "2dd + 2ddG/h",
}


class _Layer:
    def __init__(self, d, h):
        self.d, self.h = d, h

    def flops(self, queries, keys, new):
        return 2 * (2 * new * self.d**2 + 2 * queries * self.d**2) + 4 * queries * keys * self.d


def mha_flops(B, n, d, h):
    return B * _Layer(d, h).flops(queries=n, keys=n, new=n)


def decode_step_flops(B, T, d, h):
    return B * _Layer(d, h).flops(queries=1, keys=T + 1, new=1)


def mha_parameters(d, bias):
    weights = 4 * d * d
    return weights + 4 * d if bias else weights


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    numbers = 1
    for size in (2, N, B, G, n, head_dim):
        numbers *= size
    return numbers * bytes_per_number
