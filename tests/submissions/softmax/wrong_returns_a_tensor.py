# expect: rejected
# problem: softmax
# mistake: a tensor of PyTorch, not an array
# diagnosis: tensor-returned, written-in-torch
import torch


def softmax(x, axis=-1):
    return torch.softmax(torch.from_numpy(x), axis)
