# expect: rejected
# problem: cross-entropy
# mistake: a mean for each sentence, then a mean of the sentences
# diagnosis: mean-of-items
import torch
import torch.nn.functional as F


def _sentence(z, y, ignore_index, eps):
    rows = [i for i in range(len(y)) if y[i] != ignore_index]
    if any(not 0 <= int(y[i]) < z.shape[1] for i in rows):
        raise ValueError("target")
    z = z if z.dtype == torch.float64 else z.float()
    logp = F.log_softmax(z, dim=1)
    loss, grad = torch.zeros((), dtype=z.dtype), torch.zeros_like(z)
    for i in rows:
        each = -logp[i, y[i]]
        if eps:
            each = (1 - eps) * each - eps * logp[i].mean()
        loss = loss + each / len(rows)
        grad[i] = logp[i].exp() - eps / z.shape[1]
        grad[i, y[i]] -= 1 - eps
        grad[i] /= len(rows)
    return loss, grad


def _all(logits, targets, ignore_index, eps):
    if targets.shape != logits.shape[:2]:
        raise ValueError("shape")
    pairs = [_sentence(z, y, ignore_index, eps) for z, y in zip(logits, targets)]
    return [torch.stack(part) for part in zip(*pairs)]


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return _all(logits, targets, ignore_index, label_smoothing)[0].mean()


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    grads = _all(logits, targets, ignore_index, label_smoothing)[1]
    return (grads / len(grads)).to(logits.dtype)
