# expect: rejected
# problem: cross-entropy
# mistake: in bfloat16 the number of targets that count is rounded beyond 256
# diagnosis: counted-in-half-precision
import torch


def _parts(logits, targets, ignore_index):
    if targets.shape != logits.shape[:-1]:
        raise ValueError("shape")
    keep = targets != ignore_index
    safe = targets.masked_fill(~keep, 0)[..., None]
    count = keep.to(logits.dtype).sum().clamp(min=1)  # of the logits' dtype, before they are widened
    if safe.min() < 0:
        raise ValueError("target")
    return logits.to(torch.promote_types(logits.dtype, torch.float32)), keep, safe, count


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x, keep, safe, count = _parts(logits, targets, ignore_index)
    logp = x.log_softmax(-1)
    loss = -logp.gather(-1, safe)[..., 0]
    if label_smoothing:
        loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(-1)
    return loss[keep].sum() / count


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    x, keep, safe, count = _parts(logits, targets, ignore_index)
    grad = x.softmax(-1) - label_smoothing / x.shape[-1]
    grad.scatter_add_(-1, safe, torch.full_like(x[..., :1], label_smoothing - 1))
    return (grad.masked_fill(~keep[..., None], 0) / count).to(logits.dtype)
