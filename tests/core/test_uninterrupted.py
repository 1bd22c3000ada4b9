"""An interrupt waits until a block is over, and is never lost."""

import signal
import sys
import threading
import weakref
from contextlib import ExitStack

import pytest

from discreet.core.interrupts import Uninterrupted, drop_no_interrupts, pressed_behind


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


class Thing:
    """Something that can be let go of."""


def let_go(raised: type[BaseException]) -> None:
    """Let go of something; what is raised while that is noted, Python can only print."""

    def noted(_: object) -> None:
        if raised is KeyboardInterrupt:
            press()
        raise raised

    thing = Thing()
    reference = weakref.ref(thing, noted)
    del thing
    assert reference() is None


def let_go_and_wait() -> None:
    let_go(KeyboardInterrupt)
    threading.Event().wait(60)


def test_an_interrupt_that_python_drops_is_raised_again(monkeypatch):
    """Loading modules calls such functions all the time: one press of some hundred was dropped."""
    printed: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: printed.append(one.exc_type))
    let_go(KeyboardInterrupt)
    assert printed == [KeyboardInterrupt], "as it is without"
    drop_no_interrupts()
    with pytest.raises(KeyboardInterrupt):
        let_go_and_wait()
    let_go(ValueError)
    assert printed == [KeyboardInterrupt, ValueError]


def into_another() -> None:
    try:
        press()
    except KeyboardInterrupt:
        raise RuntimeError("error calling __set_name__") from None


def test_an_error_that_came_of_an_interrupt_is_one():
    with pytest.raises(RuntimeError) as caught:
        into_another()
    pressed = pressed_behind(caught.value)
    assert type(pressed) is KeyboardInterrupt
    assert pressed_behind(pressed) is pressed
    circle = ValueError()
    circle.__context__, circle.__cause__ = RuntimeError(), circle
    assert pressed_behind(circle) is None
