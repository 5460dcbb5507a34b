# expect: rejected
# problem: attention-backward
# mistake: autograd, reached through names put together at run time
import torch


def attention_backward(q, k, v, grad_output):
    leaf = "requires" + "_grad_"
    q, k, v = (getattr(t.clone(), leaf)() for t in (q, k, v))
    out = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1) @ v
    assert out.shape == grad_output.shape
    engine = getattr(torch, "auto" + "grad")
    return getattr(engine, "gr" + "ad")(out, (q, k, v), grad_output)
