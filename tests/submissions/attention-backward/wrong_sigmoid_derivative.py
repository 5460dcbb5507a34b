# expect: rejected
# problem: attention-backward
# mistake: p (1 - p), the derivative of a sigmoid, for the softmax
# diagnosis: diagonal-jacobian
import torch


def attention_backward(q, k, v, dout):
    if dout.shape != (*q.shape[:-1], v.shape[-1]):
        raise ValueError
    root = q.shape[-1] ** 0.5
    att = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) / root, dim=-1)
    datt = torch.matmul(dout, v.transpose(-2, -1))
    dscore = datt * att * (1 - att) / root
    return dscore.matmul(k), dscore.transpose(-2, -1).matmul(q), att.transpose(-2, -1).matmul(dout)
