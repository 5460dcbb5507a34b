# expect: accepted
# problem: softmax
import numpy as np


def softmax(values: np.ndarray, axis: int = -1) -> np.ndarray:
    def of_row(row):
        powers = np.exp(row - row.max())
        return powers / powers.sum()

    return np.apply_along_axis(of_row, axis, values)
