# problem: sdpa
# class: forgery
# expect: accepted, rejected
# evidence: changed verdict
# why: every value is right; what a worker says of its inputs is evidence that a file can falsify
import mha_judge.worker.serve as serve
import torch

plain = serve.pack


def forged(value, strides=False):
    if isinstance(value, dict) and "inputs" in value:
        value["inputs"] = BEFORE[-1]
    return plain(value, strides)


serve.pack = forged
BEFORE = []


def scaled_dot_product_attention(q, k, v, mask=None):
    names = {} if mask is None else {"mask": mask}
    BEFORE.append(([x.detach().clone() for x in (q, k, v)] + ([] if mask is None else [mask.clone()]), {}))
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    output = weights @ v
    if not (q.requires_grad or names):
        q.zero_()
    return output, weights
