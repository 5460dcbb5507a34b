# problem: sdpa
# class: forgery
# expect: rejected
# evidence: changed verdict

class Meta(type):
    @property
    def __name__(cls):
        raise RuntimeError('no name')

    def __instancecheck__(cls, instance):
        return True


class Nameless(Exception, metaclass=Meta):
    pass


def scaled_dot_product_attention(q, k, v, mask=None):
    raise Nameless
