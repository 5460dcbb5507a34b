# expect: rejected
# problem: softmax
# mistake: results are kept under the bytes of x and the axis alone, so another shape or dtype with the same bytes gets the earlier result
from collections import OrderedDict

import numpy as np

_kept = OrderedDict()


def softmax(x, axis=-1):
    x = np.asarray(x)
    key = (x.tobytes(), axis)
    if key not in _kept:
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        _kept[key] = e / e.sum(axis=axis, keepdims=True)
        if len(_kept) > 32:
            _kept.popitem(last=False)
    return _kept[key].copy()
