"""GPUs: whether one can be reached, and taking one for a submission at a time.

The judge itself never touches CUDA: a worker takes the device after it was forked and confined, and
its end gives everything back.
"""

from mha_judge.gpu.access import GpuAccess

__all__ = ["GpuAccess"]
