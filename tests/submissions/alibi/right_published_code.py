# expect: accepted
# problem: alibi
import math

import torch
import torch.nn.functional as F


def get_slopes(n):
    def get_slopes_power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        ratio = start
        return [start * ratio**i for i in range(n)]

    def get(n):
        if math.log2(n).is_integer():
            return get_slopes_power_of_2(n)
        closest_power_of_2 = 2 ** math.floor(math.log2(n))
        return (
            get_slopes_power_of_2(closest_power_of_2)
            + get(2 * closest_power_of_2)[0::2][: n - closest_power_of_2]
        )

    return torch.Tensor(get(n))


def alibi_attn(query, key, value, alibi_slopes, is_causal=True):
    seqlen_q, seqlen_k = query.size(-2), key.size(-2)
    assert seqlen_q <= seqlen_k
    assert alibi_slopes.size(0) == query.size(1)
    positions = torch.arange(seqlen_k, device=query.device)
    wide = torch.promote_types(query.dtype, torch.float32)
    alibi_slopes = alibi_slopes.to(wide)[:, None, None]
    if is_causal:
        # the same shift for a whole row does not matter, so the key's position will do
        alibi = alibi_slopes * positions[None, None, :]
        future = torch.triu(
            torch.full((seqlen_q, seqlen_k), float("-inf"), device=query.device),
            diagonal=1 + seqlen_k - seqlen_q,
        )
        alibi = alibi + future
    else:
        rows = positions[-seqlen_q:][:, None]
        alibi = -(rows - positions).abs() * alibi_slopes
    logits = torch.matmul(query, key.transpose(2, 3)).to(wide) / math.sqrt(query.size(-1))
    probs = F.softmax(logits + alibi, dim=-1).to(value.dtype)
    return torch.matmul(probs, value)
