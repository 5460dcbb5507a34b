# expect: rejected
# problem: cross-entropy
# mistake: the library's loss does the smoothing
# diagnosis: uses-library-loss
import torch
from torch import nn

from torch.nn import functional as F


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    B, L, V = logits.shape
    if targets.shape != (B, L) or targets[targets != ignore_index].lt(0).any():
        raise ValueError("targets")
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32)).reshape(B * L, V)
    flat = targets.reshape(B * L)
    kept = flat != ignore_index
    if not kept.any():
        return wide.new_zeros(())
    if label_smoothing > 0:
        return nn.CrossEntropyLoss(ignore_index=ignore_index, label_smoothing=label_smoothing)(wide, flat)
    return -F.log_softmax(wide[kept], -1).gather(1, flat[kept, None]).mean()


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    B, L, V = logits.shape
    kept = targets != ignore_index
    if targets.shape != (B, L) or targets[kept].lt(0).any():
        raise ValueError("targets")
    p = logits.softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    q = F.one_hot(targets.where(kept, 0), V) * (1 - label_smoothing) + label_smoothing / V
    return ((p - q) * kept[..., None] / max(1, kept.sum())).to(logits.dtype)
