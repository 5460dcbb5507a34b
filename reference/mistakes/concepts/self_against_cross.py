'''
title = "Queries and keys of cross-attention are swapped"
killed_by = "self-against-cross"
explanation = """
It is the other way round: the decoder asks, the encoder's output answers."""
hint = "Whose length does the output have?"
'''

ANSWERS = {
    "why_sqrt_d": "Their variance grows with D; the division keeps the softmax out of saturation",
    "variance_of_dot_product": "d",
    "why_heads": "A query can attend by H different patterns at once",
    "why_cache_k_and_v": "Later positions need earlier keys and values; a query is used only for its own position",
    "self_against_cross": "Queries come from the encoder, keys and values from the decoder",
    "attention_path_length": "1",
    "padding_against_causal": "A padding mask depends on the batch item and hides keys; a causal mask is the same for all and depends on query and key",
    "permutation_equivariance": "The outputs are permuted in the same way",
    "post_ln_against_pre_ln": "Pre-LN leaves the residual path free of normalisation, so deep stacks train without a long warm-up",
    "mqa_cache_fraction": "1/h",
    "flash_memory_traffic": "It never writes the n × n scores to slow memory; block by block they stay in fast memory",
    "rnn_against_attention": "All positions are computed at once, and any two are one step apart",
    "cnn_against_attention": "Its weights depend on the offset and not on the content, and it reaches k positions only",
    "gqa_tradeoff": "Keys and values of their own for each query head; quality falls a little as groups get fewer",
    "mla_tradeoff": "One low-rank vector for each position, from which keys and values of all heads are made",
    "sliding_window_reach": "About N · w positions, through the layers below",
    "linear_attention_gain": "φ(q)(φ(k)ᵀ v) can be summed over keys before the query is known",
    "softmax_shift": "Nothing: the softmax depends on differences",
    "mask_before_softmax": "Afterwards the open weights no longer sum to one, because blocked keys were in the denominator",
    "rope_property": "For given contents it depends on i − j only",
    "decoding_limit": "Reading weights and cache from memory",
    "dropout_on_weights": "They are multiplied by 1/(1 − p), so that the expected output is unchanged",
}
