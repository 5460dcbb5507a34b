# problem: sdpa
# class: tensors
# expect: accepted, rejected
# evidence: next submission disturbed
# why: the answer is right; the settings must not reach the next submission
import torch

torch.use_deterministic_algorithms(True)
torch.set_flush_denormal(True)
torch.set_grad_enabled(True)
torch.set_float32_matmul_precision('medium')
torch.backends.cuda.matmul.allow_tf32 = True


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float('-inf'))
    weights = torch.softmax(scores, dim=-1)
    output = weights @ v
    return output, weights
