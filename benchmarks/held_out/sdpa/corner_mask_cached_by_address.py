# problem: sdpa
# wrong: the answer follows the numbers of the same tensors after they have changed; here the bias made from a mask is cached by address and shape
# needs: mask
import torch

_bias_cache = {}


def _bias(mask, dtype):
    key = (mask.data_ptr(), tuple(mask.shape), mask.stride(), mask.dtype, dtype, id(mask))
    if key not in _bias_cache:
        b = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
        # the mask is kept alive, so that its id is not used again
        _bias_cache[key] = (mask, b.masked_fill(mask == 0, -1e9))
    return _bias_cache[key][1]


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores + _bias(mask, scores.dtype)
    weights = scores.softmax(dim=-1)
    return torch.matmul(weights, v), weights
