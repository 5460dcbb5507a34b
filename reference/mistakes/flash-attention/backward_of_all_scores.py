import math

import torch


class Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, block_size, causal):
        wide = torch.promote_types(q.dtype, torch.float32)
        query = torch.arange(q.shape[-2], device=q.device).unsqueeze(-1)
        key = torch.arange(k.shape[-2], device=q.device)
        highest = torch.full_like(q[..., :1], -math.inf, dtype=wide)
        total = torch.zeros_like(highest)
        output = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=wide, device=q.device)

        for start in range(0, k.shape[-2], block_size):
            block = slice(start, start + block_size)
            scores = q.to(wide) @ k[..., block, :].to(wide).mT / math.sqrt(q.shape[-1])
            if causal:
                scores = scores.masked_fill(key[block] > query, -math.inf)
            raised = torch.maximum(highest, scores.amax(-1, keepdim=True))
            shrink, weights = torch.exp(highest - raised), torch.exp(scores - raised)
            total = shrink * total + weights.sum(-1, keepdim=True)
            output = shrink * output + weights @ v[..., block, :].to(wide)
            highest = raised
        output = output / total
        ctx.save_for_backward(q, k, v, output, highest + total.log())
        ctx.causal = causal
        return output.to(q.dtype)

    @staticmethod
    def backward(ctx, gradient):
        q, k, v, output, logsumexp = ctx.saved_tensors
        wide = output.dtype
        scale = 1 / math.sqrt(q.shape[-1])
        queries, keys, values, upstream = (one.to(wide) for one in (q, k, v, gradient))

        scores = queries @ keys.mT * scale
        if ctx.causal:
            query = torch.arange(q.shape[-2], device=q.device).unsqueeze(-1)
            key = torch.arange(k.shape[-2], device=q.device)
            scores = scores.masked_fill(key > query, -math.inf)
        weights = torch.exp(scores - logsumexp)
        felt = (upstream * output).sum(-1, keepdim=True)
        of_scores = weights * (upstream @ values.mT - felt) * scale
        of_inputs = of_scores @ keys, of_scores.mT @ queries, weights.mT @ upstream
        return *(one.to(q.dtype) for one in of_inputs), None, None


def flash_attention(q, k, v, block_size, causal=False):
    if block_size < 1:
        raise ValueError("a block without keys")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("q and k differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("k and v differ in length")
    if causal and q.shape[-2] != k.shape[-2]:
        raise ValueError("causal attention needs L = S")
    return Flash.apply(q, k, v, block_size, causal)
