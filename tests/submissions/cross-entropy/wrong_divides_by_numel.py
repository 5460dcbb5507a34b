# expect: rejected
# problem: cross-entropy
# mistake: .mean() over all positions, ignored ones as zeros
# diagnosis: divided-by-all
import torch


def _logp(logits, targets, ignore_index):
    if targets.shape != logits.shape[:2]:
        raise ValueError("shape")
    x = logits if logits.dtype == torch.float64 else logits.float()
    logp = x - torch.logsumexp(x, dim=-1, keepdim=True)
    safe = targets.clone()
    safe[targets == ignore_index] = 0
    if (safe < 0).any():
        raise ValueError("target")
    return logp, safe


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp, safe = _logp(logits, targets, ignore_index)
    loss = -logp.gather(2, safe[:, :, None])[:, :, 0]
    if label_smoothing:
        loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(-1)
    loss[targets == ignore_index] = 0
    return loss.mean()


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp, safe = _logp(logits, targets, ignore_index)
    grad = logp.exp() - label_smoothing / logp.size(-1)
    rows = torch.arange(safe.numel())
    grad.view(-1, grad.size(-1))[rows, safe.flatten()] -= 1 - label_smoothing
    grad[targets == ignore_index] = 0
    return (grad / targets.numel()).to(logits.dtype)
