# problem: sdpa
# wrong: there is no attention here; importing the file ends the process with status 0
import os
import sys

print("ok")
sys.stdout.flush()
os._exit(0)


def scaled_dot_product_attention(q, k, v, mask=None):
    return v, q
