# problem: sdpa
# class: escape
# expect: rejected
# evidence: connection to a loopback listener
# unconfined: shows
import socket
import urllib.request
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


attempt(lambda: socket.gethostbyname('localhost'))
attempt(lambda: urllib.request.urlopen('http://127.0.0.1:47999/', timeout=1).read())


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
