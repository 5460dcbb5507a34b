# expect: rejected
# problem: cross-entropy
# mistake: the gradient is left to autograd
# diagnosis: uses-autograd
import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    if targets.shape != logits.shape[:-1]:
        raise ValueError("shape")
    keep = targets != ignore_index
    z = logits[keep].to(torch.promote_types(logits.dtype, torch.float32))
    y = targets[keep]
    if y.lt(0).any():
        raise ValueError("target")
    logp = torch.log_softmax(z, -1)
    loss = -logp.gather(1, y[:, None])[:, 0]
    if label_smoothing:
        loss = (1 - label_smoothing) * loss - label_smoothing * logp.mean(1)
    return loss.sum() / max(len(y), 1)


def cross_entropy_backward(logits, targets, ignore_index=-100, label_smoothing=0.0):
    with torch.inference_mode(False), torch.enable_grad():
        leaf = logits.clone().detach().requires_grad_()
        cross_entropy(leaf, targets.clone(), ignore_index, label_smoothing).backward()
    return leaf.grad
