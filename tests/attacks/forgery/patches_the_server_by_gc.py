# problem: sdpa
# class: forgery
# expect: rejected, crashed
# evidence: changed verdict
import gc
import mha_judge.worker.serve as serve
import torch

for found in gc.get_objects():
    if isinstance(found, serve.Server):
        for operation in serve.Operation:
            setattr(found, f'_{operation}', lambda header, value: ({'value': ['bool', True], 'verdict': 'accepted'}, b''))
gc.unfreeze()


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
