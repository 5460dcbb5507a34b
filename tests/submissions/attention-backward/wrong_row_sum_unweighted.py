# expect: rejected
# problem: attention-backward
# mistake: the row term sums dP without the weights
# diagnosis: mean-without-weights

import torch

def attention_backward(q, k, v, grad_output):
    if q.size(-1) != k.size(-1) or k.size(-2) != v.size(-2) or grad_output.shape != q.shape[:-1] + v.shape[-1:]:
        raise ValueError
    q, k, v, go = q.detach(), k.detach(), v.detach(), grad_output.detach()
    c = q.size(-1) ** -0.5
    P = (q @ k.mT * c).softmax(-1)
    dV = P.mT @ go
    dP = go @ v.mT
    dS = P * (dP - dP.sum(-1, keepdim=True))
    return dS @ k * c, dS.mT @ q * c, dV
