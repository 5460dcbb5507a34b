# problem: sdpa
# right: exp(log_softmax) in at least float32, logical_not for the mask, returns a list
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    assert q.size(-1) == k.size(-1)
    assert k.size(-2) == v.size(-2)
    up = torch.promote_types(q.dtype, torch.float32)
    d = torch.tensor(q.size(-1), dtype=up, device=q.device)
    logits = torch.matmul(q.to(up), k.to(up).swapaxes(-1, -2)).div(d.sqrt())
    if mask is not None:
        logits = logits.masked_fill(torch.logical_not(mask), torch.finfo(up).min)
    weights = torch.log_softmax(logits, dim=-1).exp()
    output = torch.matmul(weights, v.to(up))
    return [output.to(q.dtype), weights.to(q.dtype)]
