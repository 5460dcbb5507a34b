# expect: rejected
# problem: cross-entropy
# mistake: a one-hot target is multiplied by log p, which is −∞ for masked classes
# diagnosis: zero-times-infinity
import torch


def _both(logits, targets, ignore_index, eps):
    if targets.shape != logits.shape[:-1]:
        raise ValueError("shape")
    keep = targets != ignore_index
    V = logits.shape[-1]
    q = torch.nn.functional.one_hot(targets.where(keep, torch.zeros_like(targets)), V)
    z = logits.to(torch.float64)
    q = (1 - eps) * q + eps / V
    return torch.log_softmax(z, -1)[keep], q[keep], keep


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp, q, keep = _both(logits, targets, ignore_index, label_smoothing)
    loss = -(q * logp).sum() / max(int(keep.sum()), 1)
    return loss if logits.dtype == torch.float64 else loss.float()


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp, q, keep = _both(logits, targets, ignore_index, label_smoothing)
    grad = torch.zeros_like(logits)
    grad[keep] = ((logp.exp() - q) / max(int(keep.sum()), 1)).to(grad.dtype)
    return grad
