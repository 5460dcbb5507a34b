# expect: rejected
# problem: sdpa
# mistake: 1 blocks, as in a TensorFlow tutorial
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    matmul_qk = torch.matmul(q, k.transpose(-2, -1))
    dk = k.shape[-1]
    scaled_attention_logits = matmul_qk / dk**0.5
    if mask is not None:
        scaled_attention_logits = scaled_attention_logits + (mask.to(q.dtype) * -1e9)
    attention_weights = torch.softmax(scaled_attention_logits, dim=-1)
    return torch.matmul(attention_weights, v), attention_weights
