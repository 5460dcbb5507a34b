# problem: sdpa
# wrong: k is always (..., S, D); here a k whose length equals the width of q is taken to be transposed already, so wrong when S = D
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    D = q.shape[-1]
    if k.shape[-1] != D:
        raise ValueError(f"expected keys of width {D}")
    # matmul wants (..., D, S)
    kt = k if k.shape[-2] == D else k.transpose(-2, -1)
    w = q @ kt / D ** 0.5
    if mask is not None:
        w = torch.where(mask.bool(), w, torch.full_like(w, -1e9))
    w = torch.softmax(w, dim=-1)
    return w @ v, w
