"""Messages of pages: JSON with a `kind`, and nothing that is not expected."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from mha_judge.errors import UsageError
from mha_judge.sanitising import clean

MAX_MESSAGE_BYTES = 2 * 1024**2
"""A text as long as may be, each character of which is an escape in JSON."""
_MAX_REASON_BYTES = 120
"""A little less than what the protocol has room for."""


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


def reader(kinds: Any) -> Callable[[str], Any]:
    """Return what reads a message that is of one of several kinds.

    Args:
        kinds: The union of their models; each has a `kind` of its own.

    Returns:
        A function of the text, which raises UsageError for what is no such message.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(Annotated[kinds, Field(discriminator="kind")])

    def read(text: str) -> Any:
        try:  # pydantic's own reader wants whole characters
            return adapter.validate_python(json.loads(text))
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise UsageError(f"no message of this page: {place}: {first['msg']}") from error
        except (ValueError, RecursionError) as error:
            raise UsageError("no message of this page: it is no JSON") from error

    return read


def reason(why: str | Exception) -> str:
    """Return why a socket is closed, as short as it has to be."""
    text = "messages are text" if isinstance(why, KeyError) else str(why)
    return clean(text).encode(errors="replace")[:_MAX_REASON_BYTES].decode(errors="ignore")
