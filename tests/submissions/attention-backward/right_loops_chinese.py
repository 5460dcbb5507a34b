# expect: accepted
# problem: attention-backward
# 手写反向传播，逐个矩阵计算
import torch


def softmax(x):
    e = torch.exp(x - x.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)


def one(q, k, v, g):
    c = q.shape[1] ** -0.5
    w = softmax(q.matmul(k.t()) * c)
    dw = g.matmul(v.t())
    ds = w * (dw - (dw * w).sum(1, keepdim=True)) * c
    return ds.matmul(k), ds.t().matmul(q), w.t().matmul(g)


def attention_backward(q, k, v, grad_output):
    assert q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
    assert k.shape[-2] == v.shape[-2], "键与值的长度不同"
    flat = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v, grad_output)]
    grads = [one(*parts) for parts in zip(*flat)]
    return tuple(torch.stack(g).reshape(t.shape) for g, t in zip(zip(*grads), (q, k, v)))
