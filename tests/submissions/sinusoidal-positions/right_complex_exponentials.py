# expect: accepted
# problem: sinusoidal-positions
import numpy as np
from einops import rearrange


def sinusoids(length, channels, max_timescale=10_000):
    freqs = max_timescale ** (-np.arange(0, channels, 2, dtype=np.float32) / channels)
    z = np.exp(1j * np.outer(np.arange(length), freqs))
    both = np.stack([z.imag, z.real], axis=0)
    return rearrange(both, "two n f -> n (f two)")[:, :channels].astype(np.float32)
