# problem: sdpa
# class: tensors
# expect: rejected, crashed
# evidence: next submission disturbed
import ctypes
import torch

def scaled_dot_product_attention(q, k, v, mask=None):
    buffer = (ctypes.c_float * 4).from_address(8)
    return torch.frombuffer(buffer, dtype=torch.float32), q
