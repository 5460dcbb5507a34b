# problem: sdpa
# class: channel
# expect: error
# evidence: a control character or markup acting in a report
import no_such_module_as_this  # noqa
import torch




def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
