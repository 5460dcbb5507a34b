# expect: rejected
# problem: dual-attention
# mistake: the distance is i - j, whatever the memory
# diagnosis: memory-not-counted
import math

import torch


def dual_attention(queries, keys, values, rel_emb, bias_u, bias_v):
    n, m = queries.size(2), keys.size(2)
    if rel_emb.size(1) != m or values.size(2) != m:
        raise ValueError("lengths")
    i, j = torch.meshgrid(torch.arange(n), torch.arange(m), indexing="ij")
    index = (m - 1 - (i - j)).clamp(0, m - 1).to(queries.device)
    by_distance = (queries + bias_v.unsqueeze(1)) @ rel_emb.mT
    position = by_distance.gather(-1, index.expand_as(by_distance))
    logits = ((queries + bias_u.unsqueeze(1)) @ keys.mT + position) / math.sqrt(keys.size(-1))
    allowed = torch.tril(torch.ones(n, m, device=queries.device), diagonal=m - n)
    logits = logits.masked_fill(allowed == 0, -math.inf)
    return logits.softmax(-1) @ values
