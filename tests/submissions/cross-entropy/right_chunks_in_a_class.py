# expect: accepted
# problem: cross-entropy
import torch

CHUNK = 64


class FusedCrossEntropy:
    """Loss and gradient of a few positions at a time; the gradient takes the place of a copy."""

    def __init__(self, ignore_index, label_smoothing):
        self.ignore_index, self.eps = ignore_index, label_smoothing

    def run(self, logits, targets):
        if targets.shape != logits.shape[:-1]:
            raise ValueError("shapes")
        V = logits.size(-1)
        y = targets.flatten()
        valid = y != self.ignore_index
        if ((y < 0) | (y >= V))[valid].any():
            raise ValueError("target")
        work = torch.promote_types(logits.dtype, torch.float32)
        x = logits.to(work, copy=True).flatten(0, -2)
        n = valid.sum().clamp(min=1)
        total = torch.zeros((), dtype=work)
        for start in range(0, len(y), CHUNK):
            part = slice(start, start + CHUNK)
            z, t, ok = x[part], y[part], valid[part]
            z[~ok], t = 0, torch.where(ok, t, 0)
            z -= z.max(dim=1, keepdim=True).values
            at_target = z.gather(1, t[:, None])[:, 0]
            mean = z.mean(1) if self.eps else torch.zeros_like(at_target)
            z.exp_()
            s = z.sum(1)
            total += ((s.log() - (1 - self.eps) * at_target - self.eps * mean) * ok).sum()
            z /= s[:, None]
            z -= self.eps / V
            z[torch.arange(len(t)), t] -= 1 - self.eps
            z *= ok[:, None] / n
        return total / n, x.view(logits.shape).to(logits.dtype)


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return FusedCrossEntropy(ignore_index, label_smoothing).run(logits, targets)[0]


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return FusedCrossEntropy(ignore_index, label_smoothing).run(logits, targets)[1]
