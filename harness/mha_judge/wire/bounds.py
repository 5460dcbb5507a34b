"""How much may travel: every bound between judge, supervisor and worker, and their order.

What one layer lets pass must fit into the next; the assertions below say so.
"""

MIB = 1024**2

# A value, as a tree of JSON with tensors beside it.
MAX_DEPTH = 16
MAX_NODES = 20_000
MAX_TEXT = 16_384
MAX_DIGITS = 1_000
MAX_DIMENSIONS = 16
MAX_HEADER_BYTES = MIB
"""Of a frame: the tree and what is said beside it."""

# From the judge to the worker.
MAX_QUESTION_BYTES = 256 * MIB
"""Of the tensors of one question."""
MAX_REQUEST_BYTES = 260 * MIB
"""Of the payload that a worker reads."""
MAX_COMMAND_BYTES = 300 * MIB
"""Of the payload that a supervisor reads: a request within its envelope."""
assert MAX_QUESTION_BYTES + MAX_HEADER_BYTES < MAX_REQUEST_BYTES
assert MAX_REQUEST_BYTES + MAX_HEADER_BYTES < MAX_COMMAND_BYTES

# From the worker to the judge.
MAX_TENSOR_BYTES = 64 * MIB
"""Of the tensors of one answer; the judge holds several copies of one while it reads it."""
MAX_REPLY_BYTES = 72 * MIB
"""Of a frame that a supervisor passes on."""
MAX_ENVELOPE_BYTES = 80 * MIB
"""Of the payload that the judge reads."""
MAX_KEPT_BYTES = 256 * MIB
"""Of the answers to one submission's checks: they are kept until it is diagnosed."""
MAX_ANSWERS_BYTES = 4096 * MIB
"""Of all answers to one submission's questions: most are dropped as soon as they are judged."""
assert MAX_TENSOR_BYTES + 2 * MAX_HEADER_BYTES < MAX_REPLY_BYTES < MAX_ENVELOPE_BYTES
assert MAX_ENVELOPE_BYTES < MAX_KEPT_BYTES < MAX_ANSWERS_BYTES

# Beside the answers.
MAX_OUTPUT_BYTES = 64 * 1024
"""Of what a submission prints, kept of each worker and of all together."""
MAX_NOTES = 100
"""Of what a submission is noted to make use of."""
MAX_NAMES = 500
"""Of what a file defines, and of what a call is seen to use."""
MAX_COMPARED = 40
"""Comparisons of sizes that are told of one call."""
MAX_FORMULA = 30
"""Names and numbers of a formula, of which a comparison has two; of more the value is told."""
MAX_METHODS = 100
MAX_PARAMETERS = 2_000
"""Of one instance."""
