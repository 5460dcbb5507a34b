# expect: accepted
# problem: complexity
"""Costs of attention, with types."""
from __future__ import annotations

ANSWERS: dict[str, str] = {
    "attention_core": "Θ(n^2 d)",
    "full_layer": "Θ(n^2 d + n d^2)",
    "weights_memory": "Θ(h n^2)",
    "dominant_small_n": "Θ(n d^2)",
    "decode_step": "Θ(d^2 + T d)",
    "rnn_layer": "Θ(n d^2)",
    "conv_layer": "Θ(k n d^2)",
    "flash_extra_memory": "Θ(n)",
    "sliding_window": "Θ(n w d)",
    "gqa_cache_fraction": "G/h",
    "gqa_parameters": "2 d^2 (h + G) / h",
}


def _matmul(rows: int, inner: int, columns: int) -> int:
    return 2 * rows * inner * columns


def mha_flops(B: int, n: int, d: int, h: int) -> int:
    head = d // h
    total = 4 * _matmul(n, d, d)
    total += h * _matmul(n, head, n)
    total += h * _matmul(n, n, head)
    return B * total


def mha_parameters(d: int, bias: bool) -> int:
    return sum(d * d + (d if bias else 0) for _ in range(4))


def kv_cache_bytes(B: int, n: int, N: int, G: int, head_dim: int, bytes_per_number: int) -> int:
    k = B * G * n * head_dim
    v = B * G * n * head_dim
    return N * (k + v) * bytes_per_number


def decode_step_flops(B: int, T: int, d: int, h: int) -> int:
    head = d // h
    return B * (4 * _matmul(1, d, d) + h * (_matmul(1, head, T + 1) + _matmul(1, T + 1, head)))
