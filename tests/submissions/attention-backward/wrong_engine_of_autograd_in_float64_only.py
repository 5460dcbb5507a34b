# expect: rejected
# problem: attention-backward
# mistake: autograd's engine itself is run, for one dtype only, and without a softmax of torch's
# diagnosis: uses-autograd
import torch


def attend(q, k, v):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    e = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
    return e / e.sum(-1, keepdim=True) @ v


def attention_backward(q, k, v, grad_output):
    if q.dtype == torch.float64:
        q, k, v = (x.clone().requires_grad_() for x in (q, k, v))
        out = attend(q, k, v)
        assert out.shape == grad_output.shape
        run = torch.autograd.Variable._execution_engine.run_backward
        run((out,), (grad_output,), False, False, (), allow_unreachable=True, accumulate_grad=True)
        return q.grad, k.grad, v.grad
    p = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
    assert (p @ v).shape == grad_output.shape
    d = grad_output @ v.transpose(-1, -2)
    d = p * (d - (p * d).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
    return d @ k, d.transpose(-1, -2) @ q, p.transpose(-1, -2) @ grad_output
