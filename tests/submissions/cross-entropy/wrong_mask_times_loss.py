# expect: rejected
# problem: cross-entropy
# mistake: ignored positions look up class 0, whose logit may be −∞, and are multiplied by 0
# diagnosis: ignored-times-zero
import torch


def _prepare(logits, targets, ignore_index):
    assert targets.shape == logits.shape[:-1]
    mask = (targets != ignore_index).long()
    safe = targets * mask
    assert safe.min() >= 0 and safe.max() < logits.shape[-1]
    x = logits.float() if logits.dtype == torch.bfloat16 else logits
    return x.log_softmax(dim=-1), mask, safe.unsqueeze(-1)


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp, mask, index = _prepare(logits, targets, ignore_index)
    loss = -torch.gather(logp, 2, index).squeeze(2)
    if label_smoothing > 0.0:
        loss = loss * (1 - label_smoothing) - logp.mean(2) * label_smoothing
    return (loss * mask).sum() / mask.sum().clamp_min(1)


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp, mask, index = _prepare(logits, targets, ignore_index)
    target = torch.full_like(logp, label_smoothing / logp.shape[-1])
    target.scatter_add_(2, index, torch.full_like(logp[..., :1], 1 - label_smoothing))
    grad = (logp.exp() - target) * mask.unsqueeze(-1) / mask.sum().clamp_min(1)
    return grad.to(logits.dtype)
