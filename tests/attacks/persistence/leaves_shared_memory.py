# problem: sdpa
# class: persistence
# expect: rejected
# evidence: canary file written
import ctypes
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


libc = ctypes.CDLL(None)
rt = ctypes.CDLL('librt.so.1')
print(libc.shmget(0x6D6861, 4096, 0o1666), libc.msgget(0x6D6861, 0o1666), libc.semget(0x6D6861, 1, 0o1666))
attempt(lambda: rt.shm_open(b'/mhamark', 66, 0o666))
attempt(lambda: rt.mq_open(b'/mhamark', 66, 0o666, 0))
attempt(lambda: libc.sem_open(b'/mhamark', 64, 0o666, 1))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
