# problem: sdpa
# class: persistence
# expect: rejected
# evidence: next submission disturbed
import fcntl
import os
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


for fd in range(64):
    for operation in (fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_SH | fcntl.LOCK_NB):
        try:
            fcntl.flock(fd, operation)
        except OSError:
            pass
    for command in (fcntl.F_SETFL, 1031, 1033, 8, 10):
        try:
            fcntl.fcntl(fd, command, os.O_NONBLOCK)
        except OSError:
            pass
library = open(torch.__file__)
attempt(lambda: fcntl.flock(library, fcntl.LOCK_EX | fcntl.LOCK_NB))
attempt(lambda: fcntl.lockf(library, fcntl.LOCK_SH | fcntl.LOCK_NB))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
