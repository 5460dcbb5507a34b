# problem: sdpa
# class: escape
# expect: rejected
# evidence: next submission disturbed
import os
import signal
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


for pid in (-1, 0, 1, -os.getppid(), os.getppid(), 2**31 - 1, -os.getpid()):
    for number in (signal.SIGSTOP, signal.SIGKILL, signal.SIGUSR1):
        attempt(lambda: os.kill(pid, number))
attempt(lambda: os.killpg(0, 9))
attempt(lambda: signal.pidfd_send_signal(0, 9))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
