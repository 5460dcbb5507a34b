# problem: sdpa
# wrong: query l is compared with key s; here k is reshaped to (D, S) in place of being transposed, in every call with S > 1 and D > 1
import torch

def scaled_dot_product_attention(Q, K, V, mask=None):
    *lead, S, D = K.shape
    Kt = K.reshape(*lead, D, S)
    scores = torch.matmul(Q, Kt) / D ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    A = torch.softmax(scores, dim=-1)
    return torch.matmul(A, V), A
