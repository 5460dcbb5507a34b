# expect: accepted
# problem: concepts

ANSWERS = {
    "why_sqrt_d": "(B)",
    "variance_of_dot_product": "d",
    "why_heads": "(B)",
    "why_cache_k_and_v": "(C)",
    "self_against_cross": "(B)",
    "attention_path_length": "O(1)",
    "padding_against_causal": "(B)",
    "permutation_equivariance": "(C)",
    "post_ln_against_pre_ln": "(B)",
    "mqa_cache_fraction": "1 / h",
    "flash_memory_traffic": "(D)",
    "rnn_against_attention": "(D)",
    "cnn_against_attention": "(C)",
    "gqa_tradeoff": "(B)",
    "mla_tradeoff": "(C)",
    "sliding_window_reach": "(D)",
    "linear_attention_gain": "(C)",
    "softmax_shift": "(A)",
    "mask_before_softmax": "(A)",
    "rope_property": "(A)",
    "decoding_limit": "(D)",
    "dropout_on_weights": "(C)",
}
