# expect: rejected
# problem: sdpa
# mistake: F.softmax without dim
# diagnosis: softmax-without-axis

import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np

class ScaledDotProductAttention(nn.Module):
    def forward(self, Q, K, V, attn_mask=None):
        scores = torch.matmul(Q, K.transpose(-1, -2)) / np.sqrt(Q.size(-1))
        if attn_mask is not None:
            scores = scores.masked_fill(attn_mask == 0, -1e9)
        attn = F.softmax(scores)
        return torch.matmul(attn, V), attn
