# problem: sdpa
# right: everything is flattened to three axes for torch.bmm / baddbmm, the mask is expanded first
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    lead = q.shape[:-2]
    if k.shape[:-2] != lead or v.shape[:-2] != lead:
        raise ValueError("leading dimensions differ")
    L, D = q.shape[-2:]
    S, Dk = k.shape[-2:]
    Sv, Dv = v.shape[-2:]
    if D != Dk:
        raise ValueError("q and k need the same last dimension")
    if S != Sv:
        raise ValueError("k and v need the same length")

    q3 = q.reshape(-1, L, D)
    k3 = k.reshape(-1, S, D)
    v3 = v.reshape(-1, S, Dv)

    # beta=0: the first argument is ignored
    scores = torch.baddbmm(q3.new_zeros(1, 1, 1), q3, k3.transpose(1, 2), beta=0, alpha=D ** -0.5)

    if mask is not None:
        m3 = (mask != 0).expand(*lead, L, S).reshape(-1, L, S)
        scores = scores.masked_fill(~m3, -1e9)

    w3 = torch.softmax(scores, dim=2)
    out3 = torch.bmm(w3, v3)
    return out3.reshape(*lead, L, Dv), w3.reshape(*lead, L, S)
