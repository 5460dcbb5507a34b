# expect: rejected
# problem: sdpa
# mistake: what goes into the softmax is returned as weights
# diagnosis: scores-returned
import torch


def attention(query, key, value, mask=None):
    logits = torch.einsum("...id,...jd->...ij", query, key) * query.size(-1) ** -0.5
    if mask is not None:
        logits = logits.masked_fill(mask == 0, float("-inf"))
    return logits.softmax(-1) @ value, logits
