# expect: rejected
# problem: attention-backward
# mistake: each block of 32 keys replaces grad_q instead of adding to it
import torch
def attention_backward(q, k, v, grad_output):
    L, D = q.shape[-2:]; S, Dv = v.shape[-2:]
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != S or tuple(grad_output.shape) != (*q.shape[:-1], Dv): raise ValueError
    scale = D ** -0.5
    lse = torch.logsumexp(q @ k.transpose(-1, -2) * scale, -1, keepdim=True)
    o = torch.softmax(q @ k.transpose(-1, -2) * scale, -1) @ v
    delta = (o * grad_output).sum(-1, keepdim=True)
    gq = torch.zeros_like(q); gk = []; gv = []
    B = 32
    for j in range(0, S, B):
        kj, vj = k[..., j:j+B, :], v[..., j:j+B, :]
        p = (q @ kj.transpose(-1, -2) * scale - lse).exp()
        ds = p * (grad_output @ vj.transpose(-1, -2) - delta)
        gq = ds @ kj * scale
        gk.append(ds.transpose(-1, -2) @ q * scale); gv.append(p.transpose(-1, -2) @ grad_output)
    return gq, torch.cat(gk, -2), torch.cat(gv, -2)
