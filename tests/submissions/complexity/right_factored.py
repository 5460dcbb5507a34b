# expect: accepted
# problem: complexity
from math import prod

ANSWERS = dict(
    attention_core="n*n*d",
    full_layer="n*d*(n + d)",
    weights_memory="n*n*h",
    dominant_small_n="n*d*d",
    decode_step="d*(T + d)",
    rnn_layer="n*d*d",
    conv_layer="k*n*d*d",
    flash_extra_memory="n",
    sliding_window="d*w*n",
    gqa_cache_fraction="G/h",
    gqa_parameters="2*d**2*(1 + G/h)",
)


def mha_flops(B, n, d, h):
    # q, k, v, o and then the two products
    return 2 * prod((B, n, d, 4 * d + 2 * n))


def mha_parameters(d, bias):
    if bias:
        return prod((4, d, d + 1))
    return prod((4, d, d))


def kv_cache_bytes(B, n, N, G, head_dim, bytes_per_number):
    return prod((2, B, n, N, G, head_dim, bytes_per_number))


def decode_step_flops(B, T, d, h):
    return 2 * prod((B, d, 4 * d + 2 * (T + 1)))


if __name__ == "__main__":
    print(ANSWERS)
    print(mha_flops(1, 512, 768, 12))
