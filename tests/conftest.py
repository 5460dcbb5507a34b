"""What all tests need before anything else is imported."""

import signal

from mha_judge.processor import hold_instruction_set

hold_instruction_set()  # many tests import torch before the judge does

# A shell starts what it puts in the background of a script with SIGINT ignored, and what is ignored
# stays so in every process below. Tests that interrupt something need the interrupt to arrive.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
