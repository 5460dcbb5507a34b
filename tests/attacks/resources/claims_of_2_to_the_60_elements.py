# problem: sdpa
# class: resources
# expect: crashed, rejected, error
# evidence: judge memory above a bound
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


tensors = json.dumps({"0": {"dtype": "F32", "shape": [2**30, 2**30], "data_offsets": [0, 4]}}).encode()
payload = struct.pack("<Q", len(tensors)) + tensors + bytes(4)


def scaled_dot_product_attention(q, k, v, mask=None):
    for number in range(60):
        everywhere(frame({"id": number, "ok": {"answer": ["dict", [[["str", "value"], ["tensor", "0"]]]]}}, payload))
    os._exit(0)
