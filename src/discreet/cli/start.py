"""How the command ``discreet`` begins: little is loaded before an interrupt is answered.

Whoever presses Ctrl-C while the rest is loaded gets the same words and the same status as later.
"""

import sys
from typing import NoReturn

from discreet.core.interrupts import Interrupted, drop_no_interrupts, pressed_behind

_INTERRUPTED = 130
"""As in the table of statuses, which is not loaded yet."""

drop_no_interrupts()
try:
    from discreet.cli import main
except BaseException as error:
    if pressed_behind(error) is None:
        raise
    told = Interrupted()
    sys.stderr.write(f"discreet: {told} [{told.code}]\n")
    sys.exit(_INTERRUPTED)


def run() -> NoReturn:
    """Run the command of this process, and end the process."""
    main.run()
