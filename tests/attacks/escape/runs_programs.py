# problem: sdpa
# class: escape
# expect: rejected
# evidence: canary file written
# unconfined: shows
import ctypes
import os
import pty
import subprocess
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


COMMAND = 'touch /tmp/mha-judge-canary/ran'
attempt(lambda: os.system(COMMAND))
attempt(lambda: subprocess.run(COMMAND, shell=True))
attempt(lambda: os.posix_spawn('/bin/sh', ['sh', '-c', COMMAND], {}))
attempt(lambda: ctypes.CDLL(None).system(COMMAND.encode()))
attempt(lambda: pty.spawn(['sh', '-c', COMMAND]))
attempt(lambda: os.popen(COMMAND).read())


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
