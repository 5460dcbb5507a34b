# problem: sdpa
# wrong: no later call changes what an earlier one returned; here calls without gradients write into one buffer per shape
import torch

_buffers = {}

def _buffer(tag, shape, like):
    key = (tag, shape, like.dtype, like.device)
    if key not in _buffers:
        with torch.inference_mode(False):
            _buffers[key] = torch.empty(shape, dtype=like.dtype, device=like.device)
    return _buffers[key]

def scaled_dot_product_attention(q, k, v, mask=None):
    s = torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    w = torch.softmax(s, -1)
    o = torch.matmul(w, v)
    if o.requires_grad or w.requires_grad:
        return o, w
    bo, bw = _buffer("o", o.shape, o), _buffer("w", w.shape, w)
    bo.copy_(o)
    bw.copy_(w)
    return bo, bw
