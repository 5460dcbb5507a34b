# expect: rejected
# problem: cross-entropy
# mistake: in large vocabularies the running maximum begins at 0
import torch

CHUNK = 1024


def _logsumexp(logits):
    """log Σ exp over the classes, a chunk of them at a time."""
    if logits.shape[-1] <= CHUNK:
        return torch.logsumexp(logits, dim=-1, keepdim=True)
    top = logits.new_zeros(logits.shape[:-1] + (1,))
    total = torch.zeros_like(top)
    for part in logits.split(CHUNK, dim=-1):
        new = torch.maximum(top, part.amax(-1, keepdim=True))
        total = total * (top - new).exp() + (part - new).exp().sum(-1, keepdim=True)
        top = new
    return top + total.log()


def _prepare(logits, targets, ignore_index):
    if logits.ndim != 3 or targets.shape != logits.shape[:2]:
        raise ValueError("targets must be (B, L)")
    counted = targets != ignore_index
    if ((targets < 0) | (targets >= logits.shape[-1]))[counted].any():
        raise ValueError("a target is no class")
    wide = logits if logits.dtype == torch.float64 else logits.float()
    return wide, counted, torch.where(counted, targets, 0)


@torch.no_grad()
def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    wide, counted, index = _prepare(logits, targets, ignore_index)
    logp = wide - _logsumexp(wide)
    loss = -(1 - label_smoothing) * logp.gather(-1, index[..., None])[..., 0]
    if label_smoothing > 0:
        loss = loss - label_smoothing * logp.mean(-1)
    loss = torch.where(counted, loss, torch.zeros_like(loss))
    return loss.sum() / counted.sum().clamp(min=1)


@torch.no_grad()
def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    wide, counted, index = _prepare(logits, targets, ignore_index)
    grad = (wide - _logsumexp(wide)).exp() - label_smoothing / logits.shape[-1]
    hot = torch.full_like(index[..., None], 1, dtype=grad.dtype) * (1 - label_smoothing)
    grad = grad.scatter_add(-1, index[..., None], -hot) / counted.sum().clamp(min=1)
    return grad.masked_fill(~counted[..., None], 0.0).to(logits.dtype)
