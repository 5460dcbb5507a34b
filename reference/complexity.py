"""What attention costs: growth as formulas, exact counts as functions."""
# n length  d width  h heads  B batch  N layers  G key/value heads  k kernel width
# T cached length  w window  b bytes per number

ANSWERS = {
    # Two products of (n, d/h) and (n, n) matrices in each of h heads.
    "attention_core": "n**2*d",
    # The core, and four maps of n positions by (d, d) matrices.
    "full_layer": "n**2*d + n*d**2",
    # One weight for each head, query and key.
    "weights_memory": "h*n**2",
    # Of n²d and nd², the one with the higher power of d.
    "dominant_small_n": "n*d**2",
    # One query against T + 1 keys and values, and four maps of one position.
    "decode_step": "T*d + d**2",
    # One (d, d) product a position.
    "rnn_layer": "n*d**2",
    # k (d, d) products a position.
    "conv_layer": "k*n*d**2",
    # A running maximum and a running sum for each query.
    "flash_extra_memory": "n",
    # Each query meets w keys rather than n.
    "sliding_window": "n*w*d",
    # G heads of keys and values are kept instead of h.
    "gqa_cache_fraction": "G/h",
    # Maps of queries and output with h heads, maps of keys and values with G.
    "gqa_parameters": "2*d**2 + 2*d**2*G/h",
}
"""Growth of each quantity, Vaswani et al. 2017, arXiv:1706.03762v7, table 1 and section 4;
`flash_extra_memory`: Dao et al. 2022, arXiv:2205.14135, theorem 1; `sliding_window`:
Beltagy et al. 2020, arXiv:2004.05150, section 3.1; `gqa_cache_fraction`, `gqa_parameters`: Ainslie
et al. 2023, arXiv:2305.13245, section 2.2."""


def mha_flops(B: int, n: int, d: int, h: int) -> int:
    """Return the floating-point operations of multi-head self-attention, 8Bnd² + 4Bn²d.

    Matrix products only, 2 operations per multiply-add: four maps of B·n positions by
    (d, d) matrices, and in each head q kᵀ and weights · v, n·n·(d/h) multiply-adds each.

    Args:
        B: Sequences.
        n: Positions of a sequence.
        d: Width.
        h: Heads; divides `d`.

    Raises:
        ValueError: If `h` does not divide `d`.
    """
    head_dim = _head_dim(d, h)
    projections = 4 * 2 * B * n * d * d
    core = 2 * 2 * B * h * n * n * head_dim
    return projections + core


def mha_parameters(d: int, bias: bool) -> int:
    """Return the parameters of multi-head attention, 4d², or 4d² + 4d with biases."""
    return 4 * (d * d + (d if bias else 0))


def kv_cache_bytes(B: int, n: int, N: int, G: int, head_dim: int, bytes_per_number: int) -> int:
    """Return the bytes of the keys and values of `n` positions: 2·B·n·N·G·head_dim·bytes.

    Args:
        B: Sequences.
        n: Cached positions of a sequence.
        N: Layers.
        G: Key/value heads of a layer.
        head_dim: Numbers in one key, and in one value.
        bytes_per_number: 2 for bfloat16, 4 for float32.
    """
    return 2 * B * n * N * G * head_dim * bytes_per_number


def decode_step_flops(B: int, T: int, d: int, h: int) -> int:
    """Return the floating-point operations of one cached step, 8Bd² + 4B(T + 1)d.

    Matrix products only, 2 operations per multiply-add: four maps of one position, and
    attention from it to T cached positions and itself.

    Args:
        B: Sequences, one new position each.
        T: Positions already cached.
        d: Width.
        h: Heads; divides `d`.

    Raises:
        ValueError: If `h` does not divide `d`.
    """
    head_dim = _head_dim(d, h)
    projections = 4 * 2 * B * d * d
    core = 2 * 2 * B * h * (T + 1) * head_dim
    return projections + core


def _head_dim(d: int, h: int) -> int:
    if h < 1 or d % h:
        raise ValueError(f"{h} heads do not divide a width of {d}")
    return d // h
