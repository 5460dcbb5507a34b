# expect: rejected
# problem: cross-entropy
# mistake: float64 logits are computed in float32, and only the results are float64
# diagnosis: float64-narrowed
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    _, logp, q, kept = _parts(logits, targets, ignore_index, label_smoothing)
    rows = (torch.where(q > 0, q * logp, 0.0)).sum(-1)
    loss = -rows[kept].sum() / max(1, int(kept.sum()))
    return loss.double() if logits.dtype == torch.float64 else loss


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    p, _, q, kept = _parts(logits, targets, ignore_index, label_smoothing)
    grad = (p - q) / max(1, int(kept.sum()))
    return grad.masked_fill(~kept.unsqueeze(-1), 0.0).to(logits.dtype)


def _parts(logits, targets, ignore_index, label_smoothing):
    if targets.shape != logits.shape[:-1]:
        raise ValueError("one target for each position is needed")
    kept = targets != ignore_index
    chosen = targets.masked_fill(~kept, 0)
    V = logits.shape[-1]
    if ((chosen < 0) | (chosen >= V)).any():
        raise ValueError("a target is no class")
    z = logits.float()
    logp = torch.log_softmax(z, -1)
    q = torch.nn.functional.one_hot(chosen, V) * (1 - label_smoothing) + label_smoothing / V
    return logp.exp(), logp, q, kept
