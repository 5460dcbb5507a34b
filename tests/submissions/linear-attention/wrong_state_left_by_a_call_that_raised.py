# expect: rejected
# problem: linear-attention
# mistake: without gradients a state is kept that a call which raises midway does not empty
import torch
import torch.nn.functional as F


def phi(x):
    return F.elu(x) + 1


def _wide(x):
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _check(q, k, v):
    if q.shape[3] != k.shape[3]:
        raise ValueError("q and k differ in width")


_space = {}


def _states(a, v):
    shapes = (*a.shape[:2], a.shape[3], v.shape[3]), (*a.shape[:2], a.shape[3], 1)
    if torch.is_grad_enabled():
        return tuple(a.new_zeros(shape) for shape in shapes)
    key = shapes, a.dtype, a.device, torch.is_inference_mode_enabled()
    if key not in _space:
        _space[key] = tuple(a.new_zeros(shape) for shape in shapes)
    return _space[key]


def _causal(a, b, v, size=64):
    state, total = _states(a, v)
    outputs = []
    for start in range(0, max(t.shape[2] for t in (a, b, v)), size):
        part = slice(start, start + size)
        x, y, z = a[:, :, part], b[:, :, part], v[:, :, part]
        weights = (x @ y.mT).tril()
        top = x @ state + weights @ z
        bottom = x @ total + weights.sum(-1, keepdim=True)
        outputs.append(top / bottom)
        if torch.is_grad_enabled():
            state, total = state + y.mT @ z, total + y.sum(2)[..., None]
        else:
            state += y.mT @ z
            total += y.sum(2)[..., None]
    if not torch.is_grad_enabled():  # leave it empty for the next one
        state.zero_()
        total.zero_()
    return torch.cat(outputs, 2)


def linear_attention(q, k, v, causal=False):
    _check(q, k, v)
    a, b, c = phi(_wide(q)), phi(_wide(k)), _wide(v)
    if causal:
        return _causal(a, b, c).to(v.dtype)
    top = a @ (b.mT @ c)
    bottom = a @ b.sum(2)[..., None]
    return (top / bottom).to(v.dtype)
