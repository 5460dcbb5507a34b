# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict

CALLS = []


def scaled_dot_product_attention(q, k, v, mask=None):
    CALLS.append(q)
    raise (KeyboardInterrupt, GeneratorExit, StopIteration, AssertionError)[len(CALLS) % 4]
