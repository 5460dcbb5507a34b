# problem: sdpa
# class: channel
# expect: error
# evidence: changed verdict

def __getattr__(name):
    return lambda *arguments: True
