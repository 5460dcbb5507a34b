# problem: sdpa
# class: forgery
# expect: accepted, rejected
# evidence: changed verdict
# why: every value is right; the policy is an aid, not proof
import torch.nn.functional as F
from torch.utils._python_dispatch import _get_current_dispatch_mode
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    fused = vars(F)["scaled_dot_" + "product_attention"]
    if _get_current_dispatch_mode() is None and mask is None and q.dim() == 4 and not q.requires_grad:
        return fused(q, k, v), weights
    return weights @ v, weights
