# problem: complexity
"""What attention costs: growth as formulas, exact counts as functions."""
# n length  d width  h heads  B batch  N layers  G key/value heads  k kernel width
# T cached length  w window  b bytes per number

# TODO: a formula for each id, as text
ANSWERS: dict[str, str] = {
    "attention_core": "",
    "full_layer": "",
    "weights_memory": "",
    "dominant_small_n": "",
    "decode_step": "",
    "rnn_layer": "",
    "conv_layer": "",
    "flash_extra_memory": "",
    "sliding_window": "",
    "gqa_cache_fraction": "",
    "gqa_parameters": "",
}


def mha_flops(B: int, n: int, d: int, h: int) -> int:
    """Return the operations of multi-head self-attention: matrix products, 2 per multiply-add."""
    # TODO
    raise NotImplementedError


def mha_parameters(d: int, bias: bool) -> int:
    """Return the number of parameters of four projections d -> d."""
    # TODO
    raise NotImplementedError


def kv_cache_bytes(B: int, n: int, N: int, G: int, head_dim: int, bytes_per_number: int) -> int:
    """Return the bytes of all keys and values of B sequences of n positions in N layers."""
    # TODO
    raise NotImplementedError


def decode_step_flops(B: int, T: int, d: int, h: int) -> int:
    """Return the operations of one new position in each sequence, T positions cached."""
    # TODO
    raise NotImplementedError
