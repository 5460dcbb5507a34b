# expect: rejected
# problem: softmax
# mistake: torch does the work, taken from the modules that are loaded already
# diagnosis: written-in-torch
import sys

import numpy as np


def softmax(x, axis=-1):
    library = sys.modules["tor" + "ch"]
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    return library.softmax(library.from_numpy(x.copy()), axis).numpy()
