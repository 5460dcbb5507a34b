# problem: sdpa
# wrong: inputs of up to 5 000 positions are graded; here queries go in blocks of 256 and every block takes the first 256 rows of the mask
# needs: mask
import torch

CHUNK = 256

def scaled_dot_product_attention(q, k, v, mask=None):
    outs, ws = [], []
    for qc in q.split(CHUNK, dim=-2):
        s = qc @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if mask is not None:
            m = mask if mask.shape[-2] == 1 else mask[..., : qc.shape[-2], :]
            s = s.masked_fill(m == 0, -1e9)
        w = torch.softmax(s, dim=-1)
        outs.append(w @ v)
        ws.append(w)
    if mask is not None and mask.shape[-2] not in (1, q.shape[-2]):
        raise ValueError("mask has the wrong number of rows")
    return torch.cat(outs, dim=-2), torch.cat(ws, dim=-2)
