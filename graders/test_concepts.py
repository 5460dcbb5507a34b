"""Concepts: questions with choices, and three formulas."""

from mha_judge.grading import assert_choice, assert_same_formula, assert_same_growth, check

LETTERS = "ndh"


@check(
    "why_sqrt_d: Why are the scores q · k divided by √D before the softmax?",
    category="values",
    points=2,
    question="why_sqrt_d",
)
def test_why_sqrt_d(candidate):
    assert_choice(candidate.ANSWERS, "why_sqrt_d")


@check(
    "variance_of_dot_product: of q · k with d independent components of mean 0 and variance 1",
    category="values",
    points=3,
    question="variance_of_dot_product",
)
def test_variance_of_dot_product(candidate):
    assert_same_formula(candidate.ANSWERS.get("variance_of_dot_product"), "d", LETTERS)


@check(
    "why_heads: What do H heads of size d/H have over one head of size d, at the same cost?",
    category="values",
    points=2,
    question="why_heads",
)
def test_why_heads(candidate):
    assert_choice(candidate.ANSWERS, "why_heads")


@check(
    "why_cache_k_and_v: Why does a decoder cache keys and values, but no queries?",
    category="values",
    points=2,
    question="why_cache_k_and_v",
)
def test_why_cache_k_and_v(candidate):
    assert_choice(candidate.ANSWERS, "why_cache_k_and_v")


@check(
    "self_against_cross: What tells cross-attention from self-attention?",
    category="values",
    points=2,
    question="self_against_cross",
)
def test_self_against_cross(candidate):
    assert_choice(candidate.ANSWERS, "self_against_cross")


@check(
    "attention_path_length: operations between two positions, in the order of n",
    category="values",
    points=3,
    question="attention_path_length",
)
def test_attention_path_length(candidate):
    assert_same_growth(candidate.ANSWERS.get("attention_path_length"), "1", LETTERS)


@check(
    "padding_against_causal: How do a padding mask and a causal mask differ?",
    category="values",
    points=2,
    question="padding_against_causal",
)
def test_padding_against_causal(candidate):
    assert_choice(candidate.ANSWERS, "padding_against_causal")


@check(
    "permutation_equivariance: What happens to self-attention without positions or mask when its input positions are permuted?",
    category="values",
    points=2,
    question="permutation_equivariance",
)
def test_permutation_equivariance(candidate):
    assert_choice(candidate.ANSWERS, "permutation_equivariance")


@check(
    "post_ln_against_pre_ln: What is the practical difference between Post-LN and Pre-LN blocks?",
    category="values",
    points=2,
    question="post_ln_against_pre_ln",
)
def test_post_ln_against_pre_ln(candidate):
    assert_choice(candidate.ANSWERS, "post_ln_against_pre_ln")


@check(
    "mqa_cache_fraction: the cache of multi-query attention against that of multi-head attention",
    category="values",
    points=3,
    question="mqa_cache_fraction",
)
def test_mqa_cache_fraction(candidate):
    assert_same_formula(candidate.ANSWERS.get("mqa_cache_fraction"), "1/h", LETTERS)


@check(
    "flash_memory_traffic: Flash attention does somewhat more arithmetic than plain attention. Why is it faster?",
    category="values",
    points=2,
    question="flash_memory_traffic",
)
def test_flash_memory_traffic(candidate):
    assert_choice(candidate.ANSWERS, "flash_memory_traffic")


@check(
    "rnn_against_attention: What does attention gain over a recurrent layer in training?",
    category="values",
    points=2,
    question="rnn_against_attention",
)
def test_rnn_against_attention(candidate):
    assert_choice(candidate.ANSWERS, "rnn_against_attention")


@check(
    "cnn_against_attention: How does a convolution of width k differ from attention?",
    category="values",
    points=2,
    question="cnn_against_attention",
)
def test_cnn_against_attention(candidate):
    assert_choice(candidate.ANSWERS, "cnn_against_attention")


@check(
    "gqa_tradeoff: What is given up with grouped-query attention?",
    category="values",
    points=2,
    question="gqa_tradeoff",
)
def test_gqa_tradeoff(candidate):
    assert_choice(candidate.ANSWERS, "gqa_tradeoff")


@check(
    "mla_tradeoff: What does multi-head latent attention keep in its cache?",
    category="values",
    points=2,
    question="mla_tradeoff",
)
def test_mla_tradeoff(candidate):
    assert_choice(candidate.ANSWERS, "mla_tradeoff")


@check(
    "sliding_window_reach: N layers of causal attention with a window of w: how far back can a position feel?",
    category="values",
    points=2,
    question="sliding_window_reach",
)
def test_sliding_window_reach(candidate):
    assert_choice(candidate.ANSWERS, "sliding_window_reach")


@check(
    "linear_attention_gain: Why can linear attention work with a state of constant size?",
    category="values",
    points=2,
    question="linear_attention_gain",
)
def test_linear_attention_gain(candidate):
    assert_choice(candidate.ANSWERS, "linear_attention_gain")


@check(
    "softmax_shift: What changes when the same number is added to all scores of a row?",
    category="values",
    points=2,
    question="softmax_shift",
)
def test_softmax_shift(candidate):
    assert_choice(candidate.ANSWERS, "softmax_shift")


@check(
    "mask_before_softmax: Why is a mask applied before the softmax and not to the weights after it?",
    category="values",
    points=2,
    question="mask_before_softmax",
)
def test_mask_before_softmax(candidate):
    assert_choice(candidate.ANSWERS, "mask_before_softmax")


@check(
    "rope_property: What does rotary position embedding make of the score of a query at i and a key at j?",
    category="values",
    points=2,
    question="rope_property",
)
def test_rope_property(candidate):
    assert_choice(candidate.ANSWERS, "rope_property")


@check(
    "decoding_limit: What limits the speed of generating one token at a time on a GPU?",
    category="values",
    points=2,
    question="decoding_limit",
)
def test_decoding_limit(candidate):
    assert_choice(candidate.ANSWERS, "decoding_limit")


@check(
    "dropout_on_weights: Dropout with probability p on attention weights: what happens to the weights that stay?",
    category="values",
    points=2,
    question="dropout_on_weights",
)
def test_dropout_on_weights(candidate):
    assert_choice(candidate.ANSWERS, "dropout_on_weights")


@check(
    "top_p_keeps: Which tokens does top-p sampling keep?",
    category="values",
    points=2,
    question="top_p_keeps",
)
def test_top_p_keeps(candidate):
    assert_choice(candidate.ANSWERS, "top_p_keeps")


@check(
    "layer_norm_against_rms_norm: What does LayerNorm do that RMSNorm leaves out?",
    category="values",
    points=2,
    question="layer_norm_against_rms_norm",
)
def test_layer_norm_against_rms_norm(candidate):
    assert_choice(candidate.ANSWERS, "layer_norm_against_rms_norm")


@check(
    "cross_entropy_gradient: With p = softmax(z), what is the gradient of the loss −log p_y for the logits z?",
    category="values",
    points=2,
    question="cross_entropy_gradient",
)
def test_cross_entropy_gradient(candidate):
    assert_choice(candidate.ANSWERS, "cross_entropy_gradient")


@check(
    "beam_length_penalty: Why does beam search divide the sum of log-probabilities by a number that grows with the length?",
    category="values",
    points=2,
    question="beam_length_penalty",
)
def test_beam_length_penalty(candidate):
    assert_choice(candidate.ANSWERS, "beam_length_penalty")


@check(
    "pre_norm_output: A Pre-Norm block computes y = x + Attention(Norm₁(x)). What is its output?",
    category="values",
    points=2,
    question="pre_norm_output",
)
def test_pre_norm_output(candidate):
    assert_choice(candidate.ANSWERS, "pre_norm_output")


@check(
    "swiglu_width: A feed-forward layer has two maps, d → 4d → d. How many hidden features give a SwiGLU layer as many weights, both without biases?",
    category="values",
    points=2,
    question="swiglu_width",
)
def test_swiglu_width(candidate):
    assert_choice(candidate.ANSWERS, "swiglu_width")


@check(
    "alibi_positions: How does ALiBi tell attention about positions?",
    category="values",
    points=2,
    question="alibi_positions",
)
def test_alibi_positions(candidate):
    assert_choice(candidate.ANSWERS, "alibi_positions")


@check(
    "learned_sink: gpt-oss gives each head a learned logit that stands in the softmax beside the scores and has no value vector. What does it change?",
    category="values",
    points=2,
    question="learned_sink",
)
def test_learned_sink(candidate):
    assert_choice(candidate.ANSWERS, "learned_sink")


@check(
    "memory_needs_relative: Transformer-XL keeps the states of the segment before as a memory. Why does it need relative positions for that?",
    category="values",
    points=2,
    question="memory_needs_relative",
)
def test_memory_needs_relative(candidate):
    assert_choice(candidate.ANSWERS, "memory_needs_relative")
