"""An interrupt waits until a block is over, and is never lost."""

import signal
import threading
from contextlib import ExitStack

import pytest

from discreet.core.interrupts import Uninterrupted


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def pressed_within(*blocks: Uninterrupted) -> None:
    steps: list[str] = []
    try:
        with ExitStack() as stack:
            for block in blocks:
                stack.enter_context(block)
            press()
            steps.append("went on")
    finally:
        assert steps == ["went on"]


def test_an_interrupt_comes_after_the_block():
    with pytest.raises(KeyboardInterrupt):
        pressed_within(Uninterrupted())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_blocks_stand_in_each_other():
    with pytest.raises(KeyboardInterrupt):
        pressed_within(Uninterrupted(), Uninterrupted())
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_nothing_comes_and_errors_pass():
    with Uninterrupted():
        pass
    with pytest.raises(ValueError, match="own"), Uninterrupted():
        raise ValueError("own")
    with pytest.raises(KeyboardInterrupt):
        press()


def test_other_threads_and_ignored_interrupts_are_left_alone():
    found = []

    def look() -> None:
        with Uninterrupted():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Uninterrupted():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            press()
    finally:
        signal.signal(signal.SIGINT, before)
