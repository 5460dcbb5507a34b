# expect: rejected
# problem: concepts
# mistake: dividing by sqrt(D) is taken for normalisation
# diagnosis: why-sqrt-d-1

ANSWERS = {
    "why_sqrt_d": "c",
    "variance_of_dot_product": "d",
    "why_heads": "b",
    "why_cache_k_and_v": "c",
    "self_against_cross": "b",
    "attention_path_length": "1",
    "padding_against_causal": "b",
    "permutation_equivariance": "c",
    "post_ln_against_pre_ln": "b",
    "mqa_cache_fraction": "1/h",
    "flash_memory_traffic": "d",
    "rnn_against_attention": "d",
    "cnn_against_attention": "c",
    "gqa_tradeoff": "b",
    "mla_tradeoff": "c",
    "sliding_window_reach": "d",
    "linear_attention_gain": "c",
    "softmax_shift": "a",
    "mask_before_softmax": "a",
    "rope_property": "a",
    "decoding_limit": "d",
    "dropout_on_weights": "c",
    "top_p_keeps": "d",
    "layer_norm_against_rms_norm": "a",
    "cross_entropy_gradient": "b",
    "beam_length_penalty": "d",
    "pre_norm_output": "c",
    "swiglu_width": "c",
    "alibi_positions": "a",
    "learned_sink": "b",
    "memory_needs_relative": "d",
}
