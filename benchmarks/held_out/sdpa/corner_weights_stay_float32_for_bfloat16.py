# problem: sdpa
# wrong: the result has the dtype of the input; here the weights come back as float32 when q is bfloat16 or float16 (the output is right)
# needs: weights
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    half = q.dtype in (torch.bfloat16, torch.float16)
    qf, kf, vf = (t.float() if half else t for t in (q, k, v))
    logits = torch.einsum("...ld,...sd->...ls", qf, kf) / qf.shape[-1] ** 0.5
    if mask is not None:
        logits = torch.where(mask != 0, logits, torch.finfo(logits.dtype).min)
    weights = logits.softmax(-1)
    out = weights @ vf
    return out.to(v.dtype), weights
