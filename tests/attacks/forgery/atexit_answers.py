# problem: sdpa
# class: forgery
# expect: rejected, crashed
# evidence: changed verdict
import atexit
import json
import os
import struct

def everywhere(data):
    for fd in range(3, 64):
        try:
            os.write(fd, data)
        except OSError:
            pass


def frame(header, payload=b""):
    text = json.dumps(header).encode()
    return b"MHJ1" + struct.pack(">IQ", len(text), len(payload)) + text + payload


atexit.register(lambda: everywhere(frame({'id': 2, 'ok': {'answer': ['none']}})))


def scaled_dot_product_attention(q, k, v, mask=None):
    raise SystemExit(0)
