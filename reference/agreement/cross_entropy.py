"""The reference against PyTorch's cross_entropy and autograd."""

import torch
from reference.cross_entropy import cross_entropy, cross_entropy_backward
from torch.nn import functional


@torch.enable_grad()
def cases():
    """Yield a name, a result of the reference and PyTorch's, in float64."""
    for ignored in (-100, 0, 6, 7):
        for smoothing in (0.0, 0.1, 0.7):
            logits = 3 * torch.randn(2, 5, 7, dtype=torch.float64)
            targets = torch.randint(7, (2, 5))
            targets[0, 1:3] = targets[1, 4] = ignored
            targets[0, 0] = 3
            options = {"ignore_index": ignored, "label_smoothing": smoothing}
            leaf = logits.clone().requires_grad_()
            loss = functional.cross_entropy(leaf.flatten(0, 1), targets.flatten(), **options)
            [gradient] = torch.autograd.grad(loss, leaf)
            said = f"ignore_index {ignored}, smoothing {smoothing}"
            yield f"loss, {said}", cross_entropy(logits, targets, **options), loss.detach()
            yield f"gradient, {said}", cross_entropy_backward(logits, targets, **options), gradient
    blocked = logits.masked_fill(
        functional.one_hot(targets.clamp(max=6), 7).roll(1, -1) > 0, -1e400
    )
    theirs = functional.cross_entropy(blocked.flatten(0, 1), targets.flatten(), ignore_index=7)
    yield "loss, −inf beside the targets", cross_entropy(blocked, targets, 7), theirs
