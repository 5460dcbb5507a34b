# expect: accepted
# problem: concepts

ANSWERS = {
    "why_sqrt_d": "their variance grows with d; the division keeps the softmax out of saturation",
    "variance_of_dot_product": "d",
    "why_heads": "a query can attend by h different patterns at once",
    "why_cache_k_and_v": "later positions need earlier keys and values; a query is used only for its own position",
    "self_against_cross": "keys and values come from another sequence than the queries",
    "attention_path_length": "Θ(1)",
    "padding_against_causal": "a padding mask depends on the batch item and hides keys; a causal mask is the same for all and depends on query and key",
    "permutation_equivariance": "the outputs are permuted in the same way",
    "post_ln_against_pre_ln": "pre-ln leaves the residual path free of normalisation, so deep stacks train without a long warm-up",
    "mqa_cache_fraction": "1/h",
    "flash_memory_traffic": "it never writes the n × n scores to slow memory; block by block they stay in fast memory",
    "rnn_against_attention": "all positions are computed at once, and any two are one step apart",
    "cnn_against_attention": "its weights depend on the offset and not on the content, and it reaches k positions only",
    "gqa_tradeoff": "keys and values of their own for each query head; quality falls a little as groups get fewer",
    "mla_tradeoff": "one low-rank vector for each position, from which keys and values of all heads are made",
    "sliding_window_reach": "about n · w positions, through the layers below",
    "linear_attention_gain": "φ(q)(φ(k)ᵀ v) can be summed over keys before the query is known",
    "softmax_shift": "nothing: the softmax depends on differences",
    "mask_before_softmax": "afterwards the open weights no longer sum to one, because blocked keys were in the denominator",
    "rope_property": "for given contents it depends on i − j only",
    "decoding_limit": "reading weights and cache from memory",
    "dropout_on_weights": "they are multiplied by 1/(1 − p), so that the expected output is unchanged",
}
