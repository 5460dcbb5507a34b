# problem: sdpa
# class: channel
# expect: rejected
# evidence: a control character or markup acting in a report

def scaled_dot_product_attention(q, k, v, mask=None):
    raise ValueError('\0\ud800\udfff\ue000\U000e0041\uffff' * 1000)
