"""What a worker can be asked for. Its server has a method, and its replies a model, of each."""

from enum import StrEnum


class Operation(StrEnum):
    """The `op` of a request."""

    LOAD = "load"
    """Run the submission's file, and tell what it defines."""
    READ = "read"
    """A value of the file, by name."""
    NEW = "new"
    """An instance of a class of the file, and its parameters."""
    PARAMETERS = "parameters"
    """The parameters of an instance as they stand."""
    SET_PARAMETERS = "set_parameters"
    MODE = "mode"
    """Training or evaluation, of an instance."""
    CALL = "call"
    FETCH = "fetch"
    """Objects that earlier calls returned, as they stand."""
    OVERWRITTEN = "overwritten"
    """Whether a watched call returned what is no longer as it was."""
    DEVICE = "device"
    """Take a GPU."""
    HOLD = "hold"
    """Keep arguments on the device, for calls that are timed."""
    SHAKE = "shake"
    """Change the numbers in what is held."""
    REPEAT = "repeat"
    """Call with what is held, several times."""
