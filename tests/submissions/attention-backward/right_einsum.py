# expect: accepted
# problem: attention-backward
import math

import torch


def attention_backward(query, key, value, dout):
    assert key.shape[-2] == value.shape[-2] and dout.shape[-1] == value.shape[-1]
    assert dout.shape[-2] == query.shape[-2]
    s = torch.einsum("...ld,...sd->...ls", query, key) / math.sqrt(query.size(-1))
    p = torch.softmax(s, -1)
    dv = torch.einsum("...ls,...le->...se", p, dout)
    dp = torch.einsum("...le,...se->...ls", dout, value)
    o = torch.einsum("...ls,...se->...le", p, value)
    delta = (o * dout).sum(-1, keepdim=True)
    ds = p * (dp - delta) / math.sqrt(query.size(-1))
    return [
        torch.einsum("...ls,...sd->...ld", ds, key),
        torch.einsum("...ls,...ld->...sd", ds, query),
        dv,
    ]
