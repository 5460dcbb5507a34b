# expect: accepted
# problem: sliding-window
import torch


def swa(q, k, v, window):
    """One offset at a time, with a running maximum and sum: only (B, H, L, D) is ever held."""
    scale = q.shape[-1] ** -0.5
    best = (q * k).sum(-1, keepdim=True) * scale
    total = torch.ones_like(best)
    acc = v.clone()
    for back in range(1, min(window, q.shape[2])):
        score = (q[:, :, back:] * k[:, :, :-back]).sum(-1, keepdim=True) * scale
        old_best = best[:, :, back:]
        new_best = torch.maximum(old_best, score)
        shrink, weight = (old_best - new_best).exp(), (score - new_best).exp()
        total = torch.cat([total[:, :, :back], total[:, :, back:] * shrink + weight], dim=2)
        update = acc[:, :, back:] * shrink + weight * v[:, :, :-back]
        acc = torch.cat([acc[:, :, :back], update], dim=2)
        best = torch.cat([best[:, :, :back], new_best], dim=2)
    return acc / total
