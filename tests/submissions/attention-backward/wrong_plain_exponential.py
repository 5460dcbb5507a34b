# expect: rejected
# problem: attention-backward
# mistake: the exponential of scores from which nothing was subtracted
# diagnosis: no-max-subtraction
import torch


@torch.no_grad()
def attention_backward(q, k, v, grad_output):
    L, D = q.shape[-2:]
    S, Dv = v.shape[-2:]
    if k.shape[-2:] != (S, D) or grad_output.shape[-2:] != (L, Dv):
        raise ValueError("shapes do not match")
    original = q.dtype
    if original in (torch.bfloat16, torch.float16):
        q, k, v, grad_output = q.float(), k.float(), v.float(), grad_output.float()

    # forward, again
    scores = (q @ k.transpose(-1, -2)) / D**0.5
    exp = torch.exp(scores)
    probs = exp / exp.sum(dim=-1, keepdim=True)
    out = probs @ v

    # backward, as in FlashAttention: delta = rowsum(dO * O)
    delta = (grad_output * out).sum(dim=-1, keepdim=True)
    dv = probs.transpose(-1, -2) @ grad_output
    dp = grad_output @ v.transpose(-1, -2)
    ds = probs * (dp - delta) / D**0.5
    dq = ds @ k
    dk = ds.transpose(-1, -2) @ q
    return dq.to(original), dk.to(original), dv.to(original)
