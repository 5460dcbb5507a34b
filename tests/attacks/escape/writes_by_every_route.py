# problem: sdpa
# class: escape
# expect: rejected
# evidence: canary file written
# unconfined: shows
import ctypes
import os
import pathlib
import shutil
import sqlite3
import numpy
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


TARGET = '/tmp/mha-judge-canary/written'
libc = ctypes.CDLL(None)
attempt(lambda: open(TARGET, 'w').write('x'))
attempt(lambda: os.open(TARGET, os.O_WRONLY | os.O_CREAT))
attempt(lambda: pathlib.Path(TARGET).write_text('x'))
attempt(lambda: torch.save(torch.ones(1), TARGET))
attempt(lambda: numpy.save(TARGET, [1]))
attempt(lambda: numpy.memmap(TARGET, mode='w+', shape=1))
attempt(lambda: torch.from_file(TARGET, shared=True, size=1))
attempt(lambda: shutil.copy(os.__file__, TARGET))
attempt(lambda: sqlite3.connect(TARGET).execute('create table t (x)'))
attempt(lambda: os.symlink('/etc/passwd', TARGET))
attempt(lambda: os.link('/tmp/mha-judge-secret', TARGET))
attempt(lambda: os.rename('/tmp/mha-judge-secret', TARGET))
attempt(lambda: os.mkfifo(TARGET))
attempt(lambda: os.mknod(TARGET))
attempt(lambda: os.truncate('/tmp/mha-judge-secret', 0))
attempt(lambda: os.remove('/tmp/mha-judge-secret'))
print(libc.creat(TARGET.encode(), 0o666), libc.syscall(85, TARGET.encode(), 0o666))


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
