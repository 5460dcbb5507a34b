# problem: sdpa
# class: tensors
# expect: rejected
# evidence: changed verdict
import warnings
import torch

warnings.simplefilter('ignore')


def scaled_dot_product_attention(q, k, v, mask=None):
    wrong = torch.zeros(2, 3, 5, 13).refine_names('B', 'H', 'L', 'D')
    return wrong, wrong
