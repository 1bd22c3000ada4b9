"""A user without powers."""

import os
from collections.abc import Callable

from discreet.core.errors import DiscreetError


def as_nobody(use: Callable[[], object]) -> str:
    """Run ``use`` without the powers of root, in a child; return the error that it meets."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        message = "no error"
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            use()
        except DiscreetError as error:
            message = str(error)
        finally:
            os.write(write, message.encode())
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as pipe:
        return pipe.read()
