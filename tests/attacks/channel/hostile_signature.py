# problem: sdpa
# class: channel
# expect: rejected, error, crashed
# evidence: changed verdict

class Signed:
    __module__ = 'submission'

    @property
    def __signature__(self):
        raise SystemExit(0)

    def __call__(self, *arguments):
        return None


scaled_dot_product_attention = Signed()
