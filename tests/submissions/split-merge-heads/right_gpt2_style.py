# expect: accepted
# problem: split-merge-heads
import torch

print("loading heads helpers ...")


def split_heads(tensor, num_heads):
    attn_head_size = tensor.shape[-1] // num_heads
    new_shape = tensor.size()[:-1] + (num_heads, attn_head_size)
    tensor = tensor.reshape(new_shape)
    return tensor.permute(0, 2, 1, 3).contiguous()


def merge_heads(tensor):
    tensor = tensor.permute(0, 2, 1, 3).contiguous()
    new_shape = tensor.size()[:-2] + (tensor.size(-2) * tensor.size(-1),)
    return tensor.view(new_shape)
