"""How the command ``discreet`` begins: little is loaded before an interrupt is answered.

Whoever presses Ctrl-C while the rest is loaded gets the same words and the same status as later.
"""

import sys
from typing import NoReturn

_INTERRUPTED = 130
"""As in the table of statuses, which is not loaded yet."""

try:
    from discreet.core.interrupts import Interrupted, drop_no_interrupts, pressed_behind
except KeyboardInterrupt:
    # What has the words for it is not loaded either.
    sys.stderr.write("discreet: Interrupted before the charge. Nothing was spent. [interrupted]\n")
    sys.exit(_INTERRUPTED)

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
