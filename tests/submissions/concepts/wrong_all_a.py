# expect: rejected
# problem: concepts
# mistake: the same letter everywhere

ANSWERS = {
    "why_sqrt_d": "a",
    "variance_of_dot_product": "d",
    "why_heads": "a",
    "why_cache_k_and_v": "a",
    "self_against_cross": "a",
    "attention_path_length": "1",
    "padding_against_causal": "a",
    "permutation_equivariance": "a",
    "post_ln_against_pre_ln": "a",
    "mqa_cache_fraction": "1/h",
    "flash_memory_traffic": "a",
    "rnn_against_attention": "a",
    "cnn_against_attention": "a",
    "gqa_tradeoff": "a",
    "mla_tradeoff": "a",
    "sliding_window_reach": "a",
    "linear_attention_gain": "a",
    "softmax_shift": "a",
    "mask_before_softmax": "a",
    "rope_property": "a",
    "decoding_limit": "a",
    "dropout_on_weights": "a",
}
