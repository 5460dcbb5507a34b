# problem: sdpa
# class: forgery
# expect: rejected, crashed
# evidence: changed verdict
import itertools
import json
import os
import struct
import mha_judge.worker.serve as serve
import torch

NODES = itertools.cycle([None, [], ["none"], ["dict", []], ["tensor", "0"], ["list", [["none"]] * 30_000], {"a": 1}])


def answer(self, header, payload):
    node = next(NODES)
    text = json.dumps({"id": header["id"], "ok": {"answer": node, "value": node, "gradients": node}}).encode()
    return b"MHJ1" + struct.pack(">IQ", len(text), 3) + text + b"xxx"


serve.Server.answer = answer


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
