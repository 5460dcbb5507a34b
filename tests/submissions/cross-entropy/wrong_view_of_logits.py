# expect: rejected
# problem: cross-entropy
# mistake: view(-1, V) needs contiguous logits
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return _run(logits, targets, ignore_index, label_smoothing)[0]


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return _run(logits, targets, ignore_index, label_smoothing)[1]


def _run(logits, targets, ignore_index, eps):
    if targets.shape != logits.shape[:-1]:
        raise ValueError("shape")
    V = logits.size(-1)
    z, y = logits.view(-1, V), targets.view(-1)
    z = z.float() if z.dtype == torch.bfloat16 else z
    use = y != ignore_index
    n = use.sum().clamp(min=1)
    index = y.masked_fill(~use, 0).unsqueeze(1)
    if index.min() < 0:
        raise ValueError("target")
    logp = z.log_softmax(1)
    q = torch.full_like(logp, eps / V).scatter_(1, index, 1 - eps + eps / V)
    loss = -torch.where(q > 0, q * logp, 0.0).sum(1).masked_fill(~use, 0).sum() / n
    grad = (logp.exp() - q).masked_fill(~use.unsqueeze(1), 0) / n
    return loss, grad.view(logits.shape).to(logits.dtype)
