# problem: sdpa
# class: escape
# expect: rejected
# evidence: connection to a loopback listener
# unconfined: shows
import socket
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


attempt(lambda: socket.create_connection(('127.0.0.1', 47999), timeout=0.5).sendall(b'x'))
attempt(lambda: socket.socket(socket.AF_INET6).connect(('::1', 47999)))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 47999)))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
