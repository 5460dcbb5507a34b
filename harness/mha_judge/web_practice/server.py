"""From a session to a page that its one user can open, until the program is told to stop."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import closing
from functools import partial

from mha_judge.app.session import Session
from mha_judge.browser.messages import MAX_MESSAGE_BYTES
from mha_judge.pool.job import Place
from mha_judge.pool.tries import Tries
from mha_judge.service.address import Address
from mha_judge.service.gate import Gate
from mha_judge.service.running import run
from mha_judge.web_practice.app import asker_of, make_app
from mha_judge.web_practice.desk import Desk


class _Nothing:
    """What is brought to its end with the server: nobody waits for an answer of this one."""

    async def close(self, within_s: float) -> None:
        return


def serve(session: Session, place: Place, port: int, say: Callable[[str], None]) -> None:
    """Serve until an interrupt or SIGTERM, on this machine alone.

    Args:
        session: What the page shows.
        place: Where calls of one's own are made.
        port: On which it listens; 0 takes any.
        say: Told the link.

    Raises:
        UsageError: The port is in use.
    """
    address = Address("127.0.0.1", port, (), None, None)
    key = secrets.token_urlsafe(18)
    with closing(address.listen()) as listening, closing(Tries(place)) as tries:
        say(f"open {address.url(listening)}/enter/{key}")
        gate = Gate(
            make_app(Desk(session, tries), key),
            partial(asker_of, key),
            address.names(listening, any_name=False),
            free=lambda _: True,  # routes say themselves what they need, with words for people
        )
        run(
            gate, listening, address, _Nothing(), 0,
            ws="websockets-sansio", ws_max_size=MAX_MESSAGE_BYTES,
        )  # fmt: skip
