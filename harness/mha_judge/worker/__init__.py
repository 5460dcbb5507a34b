"""Inside the sandbox: the supervisor, and the worker that runs one submission.

The judge sends one request at a time and gets one answer to each. A worker obeys and reports; it
decides nothing. Requests, as `op` in a frame's header:

    load            source, filename -> definitions: what the file defines, with signatures
    read            name -> value: a module-level value, such as ANSWERS
    new             name, [args, kwargs] -> handle, parameters: an instance
    parameters      handle -> parameters: paths, shapes, owners
    set_parameters  handle, dtype, {path: array} -> null: cast, then copy
    mode            handle, training -> null
    call            target, [args, kwargs, cotangents], options -> value and what was asked for
    fetch           [kept, ...] -> values: kept objects as they are now
    device          name, memory_bytes -> facts: take a GPU, to which all tensors then go
    hold            [[args, kwargs], ...] -> null: keep these inputs on the device, for timing
    shake           -> null: change those inputs a little
    repeat          target, count -> value: call the target on that many of them

A request may say what comes first: headers of others, whose values lie in its payload, too.

The worker answers `{"id", "ok": {...}}`, or `{"id", "raised": {type, message, line, source}}` if
the submission raised. Both may have `notes` of what the submission used since the last request:
rule (`fused-attention`, `autograd`), name, line. What a worker says of itself is evidence that a
hostile file can falsify; the judge relies only on the values, and compares them.
"""
