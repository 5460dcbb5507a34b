# problem: sdpa
# class: tensors
# expect: rejected
# evidence: canary file written

class Bomb:
    def __reduce__(self):
        return (open, ('/tmp/mha-judge-canary/pickled', 'w'))


def scaled_dot_product_attention(q, k, v, mask=None):
    q.bomb = Bomb()
    return Bomb(), q
