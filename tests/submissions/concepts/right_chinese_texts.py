# expect: accepted
# problem: concepts
# 用选项全文作答

ANSWERS = {
    "why_sqrt_d": "分数的方差随 D 增大；除以 √D 使 softmax 不致饱和",
    "variance_of_dot_product": "d",
    "why_heads": "一个查询可以同时按 H 种不同的模式进行注意",
    "why_cache_k_and_v": "之后的位置需要之前的键和值；查询只用于它自己的位置",
    "self_against_cross": "键和值来自与查询不同的另一个序列",
    "attention_path_length": "1",
    "padding_against_causal": "填充掩码随样本而变，遮住某些键；因果掩码对所有样本相同，取决于查询与键的位置",
    "permutation_equivariance": "输出以同样的方式重新排列",
    "post_ln_against_pre_ln": "Pre-LN 的残差通路上没有归一化，因此深层网络无需很长的预热就能训练",
    "mqa_cache_fraction": "1/h",
    "flash_memory_traffic": "它从不把 n × n 的分数写到慢速存储；分数按块留在快速存储中",
    "rnn_against_attention": "所有位置同时计算，任意两个位置相距一步",
    "cnn_against_attention": "它的权重取决于相对偏移而非内容，并且只能触及 k 个位置",
    "gqa_tradeoff": "每个查询头各自的键和值；组越少，质量略有下降",
    "mla_tradeoff": "每个位置一个低秩向量，所有头的键和值都由它生成",
    "sliding_window_reach": "约 N · w 个位置，经由下面各层传递",
    "linear_attention_gain": "φ(q)(φ(k)ᵀ v) 可以在知道查询之前先对键求和",
    "softmax_shift": "什么也不改变：softmax 只取决于差值",
    "mask_before_softmax": "之后施加时，被屏蔽的键已计入分母，剩余权重之和不再为一",
    "rope_property": "内容给定时，它只取决于 i − j",
    "decoding_limit": "从内存读取权重和缓存",
    "dropout_on_weights": "乘以 1/(1 − p)，使输出的期望不变",
}
