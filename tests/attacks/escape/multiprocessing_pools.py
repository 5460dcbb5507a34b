# problem: sdpa
# class: escape
# expect: rejected
# evidence: canary file written
import concurrent.futures
import multiprocessing
import torch


def attempt(action):
    try:
        print(action())
    except BaseException as error:
        print(type(error).__name__)


def touch(_):
    open('/tmp/mha-judge-canary/pool', 'w').close()


attempt(lambda: multiprocessing.Pool(1).map(touch, [0]))
attempt(lambda: concurrent.futures.ProcessPoolExecutor(1).submit(touch, 0).result(timeout=1))
attempt(lambda: torch.multiprocessing.get_context('spawn').Process(target=touch, args=(0,)).start())


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # no scale, no mask: wrong
    return weights @ v, weights
