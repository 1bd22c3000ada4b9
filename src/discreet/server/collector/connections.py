"""Connections that end: a device that vanished, or never says anything, must not hold one."""

import asyncio
import weakref
from collections.abc import Callable
from typing import Any

SECONDS = 30.0
"""How long a connection may last, but for the request that is under way then."""


def ending(protocol: Callable[..., Any], seconds: float = SECONDS) -> Callable[..., Any]:
    """Return what makes connections of a server's ``protocol`` that end after so many seconds.

    Servers end what is idle after an answer, and not what is silent before a request: such
    connections would add up, until no file is left for another one. A request that is under way is
    answered first.
    """

    def made(*given: Any, **named: Any) -> Any:
        connection = protocol(*given, **named)
        # Only a weak reference: what has ended is not to be kept until then.
        asyncio.get_running_loop().call_later(seconds, _end, weakref.ref(connection))
        return connection

    return made


def _end(found: Callable[[], Any]) -> None:
    connection = found()
    transport = None if connection is None else connection.transport
    if transport is not None and not transport.is_closing():
        connection.shutdown()
