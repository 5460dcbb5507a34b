# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict
# limits: short

class Items(list):
    def __len__(self):
        return 1 << 40

    def __iter__(self):
        while True:
            yield self

    def __getitem__(self, index):
        return self


class Pairs(dict):
    def items(self):
        return ((i, i) for i in iter(int, 1))


def scaled_dot_product_attention(q, k, v, mask=None):
    return (Items([1]), Pairs())
