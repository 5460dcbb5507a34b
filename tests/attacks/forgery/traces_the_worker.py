# problem: sdpa
# class: forgery
# expect: rejected, crashed
# evidence: changed verdict
import sys
import threading
import torch

def tracer(frame, event, argument):
    if frame.f_code.co_name == '_call' and event == 'return':
        frame.f_locals['fields'] = {'verdict': 'accepted'}
    return tracer


for frame in (sys._getframe(), sys._getframe(1), sys._getframe(2)):
    frame.f_trace = tracer
sys.settrace(tracer)
sys.setprofile(tracer)
threading.settrace(tracer)


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
