"""Why attention is built as it is: choices by their text, and three formulas."""
# n length  d width  h heads

ANSWERS = {
    "why_sqrt_d": "Their variance grows with D; the division keeps the softmax out of saturation",
    "variance_of_dot_product": "d",
    "why_heads": "A query can attend by H different patterns at once",
    "why_cache_k_and_v": (
        "Later positions need earlier keys and values; a query is used only for its own position"
    ),
    "self_against_cross": "Keys and values come from another sequence than the queries",
    "attention_path_length": "1",
    "padding_against_causal": (
        "A padding mask depends on the batch item and hides keys; a causal mask is the "
        "same for all and depends on query and key"
    ),
    "permutation_equivariance": "The outputs are permuted in the same way",
    "post_ln_against_pre_ln": (
        "Pre-LN leaves the residual path free of normalisation, so deep stacks train "
        "without a long warm-up"
    ),
    "mqa_cache_fraction": "1/h",
    "flash_memory_traffic": (
        "It never writes the n × n scores to slow memory; block by block they stay in fast memory"
    ),
    "rnn_against_attention": "All positions are computed at once, and any two are one step apart",
    "cnn_against_attention": (
        "Its weights depend on the offset and not on the content, and it reaches k positions only"
    ),
    "gqa_tradeoff": (
        "Keys and values of their own for each query head; quality falls a little as "
        "groups get fewer"
    ),
    "mla_tradeoff": (
        "One low-rank vector for each position, from which keys and values of all heads are made"
    ),
    "sliding_window_reach": "About N · w positions, through the layers below",
    "linear_attention_gain": "φ(q)(φ(k)ᵀ v) can be summed over keys before the query is known",
    "softmax_shift": "Nothing: the softmax depends on differences",
    "mask_before_softmax": (
        "Afterwards the open weights no longer sum to one, because blocked keys were in "
        "the denominator"
    ),
    "rope_property": "For given contents it depends on i − j only",
    "decoding_limit": "Reading weights and cache from memory",
    "dropout_on_weights": (
        "They are multiplied by 1/(1 − p), so that the expected output is unchanged"
    ),
    "top_p_keeps": "The fewest most probable ones that together hold at least p",
    "layer_norm_against_rms_norm": "It subtracts the features' mean",
    "cross_entropy_gradient": "p − one_hot(y)",
    "beam_length_penalty": "Every token lowers the sum, so that short sequences would win",
    "pre_norm_output": "y + FFN(Norm₂(y))",
    "swiglu_width": "Two thirds as many, 8d/3",
    "alibi_positions": (
        "It lowers scores in proportion to the distance, at a rate of each head's own"
    ),
    "learned_sink": "Keys get weights that sum to less than one",
    "memory_needs_relative": (
        "Numbered anew in each segment, old and new states would share positions"
    ),
}
"""By question; sources: Vaswani et al. 2017, arXiv:1706.03762v7, sections 3 and 4; Dao et al. 2022,
arXiv:2205.14135; Ainslie et al. 2023, arXiv:2305.13245; Xiong et al. 2020, arXiv:2002.04745;
Holtzman et al. 2020, arXiv:1904.09751; Zhang and Sennrich 2019, arXiv:1910.07467; Wu et al. 2016,
arXiv:1609.08144; Shazeer 2020, arXiv:2002.05202; Press et al. 2022, arXiv:2108.12409; OpenAI 2025,
arXiv:2508.10925; Dai et al. 2019, arXiv:1901.02860."""
