# problem: sdpa
# wrong: a mask holds 0 and 1 and 0 blocks; here the numbers of the mask are added to the scores, so that nothing is blocked
# needs: mask
import torch
import torch.nn.functional as F

def scaled_dot_product_attention(q, k, v, mask=None):
    attn_logits = (q @ k.transpose(-2, -1)) / (q.size(-1) ** .5)
    if mask is not None:
        attn_logits = attn_logits + mask.to(attn_logits.dtype)
    attn = F.softmax(attn_logits, dim=-1)
    return attn @ v, attn
