# problem: sdpa
# class: exfiltration
# expect: rejected
# evidence: a secret's text appearing in the report
# unconfined: shows
import sys
import torch

for name in ('mha_judge.judge', 'mha_judge.grading.expecting.expected', 'mha_judge.bank', 'mha_judge.certify', 'conftest', 'sandboxes'):
    try:
        __import__(name)
        print(name)
        bank = sys.modules['mha_judge.bank'].Bank.builtin()
        print(bank.grader('sdpa').read_text())
    except BaseException as error:
        print(type(error).__name__, error)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
