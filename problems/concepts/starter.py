# problem: concepts
"""Why attention is built as it is."""
# n length  d width  h heads

ANSWERS = {
    "why_sqrt_d": "",  # TODO
    "variance_of_dot_product": "",  # TODO: a formula
    "why_heads": "",  # TODO
    "why_cache_k_and_v": "",  # TODO
    "self_against_cross": "",  # TODO
    "attention_path_length": "",  # TODO: a formula
    "padding_against_causal": "",  # TODO
    "permutation_equivariance": "",  # TODO
    "post_ln_against_pre_ln": "",  # TODO
    "mqa_cache_fraction": "",  # TODO: a formula
    "flash_memory_traffic": "",  # TODO
    "rnn_against_attention": "",  # TODO
    "cnn_against_attention": "",  # TODO
    "gqa_tradeoff": "",  # TODO
    "mla_tradeoff": "",  # TODO
    "sliding_window_reach": "",  # TODO
    "linear_attention_gain": "",  # TODO
    "softmax_shift": "",  # TODO
    "mask_before_softmax": "",  # TODO
    "rope_property": "",  # TODO
    "decoding_limit": "",  # TODO
    "dropout_on_weights": "",  # TODO
    "top_p_keeps": "",  # TODO
    "layer_norm_against_rms_norm": "",  # TODO
    "cross_entropy_gradient": "",  # TODO
    "beam_length_penalty": "",  # TODO
    "pre_norm_output": "",  # TODO
    "swiglu_width": "",  # TODO
    "alibi_positions": "",  # TODO
    "learned_sink": "",  # TODO
    "memory_needs_relative": "",  # TODO
}
