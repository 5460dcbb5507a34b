# expect: rejected
# problem: cross-entropy
# mistake: the smoothing is shared by the other V − 1 classes
# diagnosis: smoothing-over-others
import torch


def label_smoothed_nll(lprobs, target, eps):
    nll = -lprobs.gather(dim=-1, index=target)
    smooth = -lprobs.sum(dim=-1, keepdim=True)
    if eps == 0:
        return nll
    eps_i = eps / max(lprobs.size(-1) - 1, 1)
    return (1.0 - eps - eps_i) * nll + eps_i * smooth


def _lprobs(logits, targets, ignore_index):
    if targets.shape != logits.shape[:-1]:
        raise ValueError("shape")
    pad = targets.eq(ignore_index)
    target = targets.masked_fill(pad, 0)
    if target.lt(0).any():
        raise ValueError("negative target")
    wide = logits if logits.dtype == torch.float64 else logits.float()
    return wide.log_softmax(-1), target.unsqueeze(-1), pad.unsqueeze(-1)


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    lprobs, target, pad = _lprobs(logits, targets, ignore_index)
    loss = label_smoothed_nll(lprobs, target, label_smoothing).masked_fill(pad, 0.0)
    return loss.sum() / (~pad).sum().clamp(min=1)


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    lprobs, target, pad = _lprobs(logits, targets, ignore_index)
    q = torch.full_like(lprobs, label_smoothing / max(lprobs.size(-1) - 1, 1))
    q.scatter_(-1, target, 1 - label_smoothing)
    grad = (lprobs.exp() - q).masked_fill(pad, 0.0) / (~pad).sum().clamp(min=1)
    return grad.to(logits.dtype)
