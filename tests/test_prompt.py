"""The prompt of a terminal: signals at any moment of it, and lines that nobody means."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from sleuth_command import STOPPED, noted_signals, stopped_by
from sleuth_env.cli.session import prompt_reader
from sleuth_env.cli.streams import LONGEST_TYPED

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals")


@pytest.fixture
def terminal() -> Iterator[PipeInput]:
    """A terminal in which somebody types what a test sends."""
    with create_pipe_input() as typed, create_app_session(input=typed, output=DummyOutput()):
        yield typed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("moment", [*range(1, 120, 7), *range(120, 2400, 120)])
def test_a_signal_at_any_moment_leaves_the_prompt_and_nothing_is_said(
    moment: int, number: signal.Signals, terminal: PipeInput, capfd: pytest.CaptureFixture[str]
) -> None:
    calls = 0
    sent = False
    read = prompt_reader()

    def send() -> None:
        nonlocal sent
        if not sent:
            sent = True
            os.kill(os.getpid(), number)

    def count(frame: Any, event: str, argument: Any) -> None:
        """Send the signal at a call."""
        nonlocal calls
        calls += event == "call"
        if calls >= moment:
            send()

    def ask() -> None:
        sys.setprofile(count)
        read("your turn> ", ["legal", "pass"])

    terminal.send_text("legal opal\x7f\x7fab")
    # Where the prompt waits for more before that.
    late = threading.Timer(1, send)
    with noted_signals() as came:
        late.start()
        try:
            with pytest.raises(KeyboardInterrupt):
                ask()
        finally:
            sys.setprofile(None)
            late.cancel()
    assert came == [number]
    gc.collect()
    assert capfd.readouterr() == ("", "")


def test_what_is_not_to_be_broken_off_is_asked_to_end_and_then_it_is_raised() -> None:
    asked = []

    def ask() -> None:
        with stopped_by(lambda: asked.append(True)):
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)
            assert asked == [True]

    with noted_signals() as came:
        with pytest.raises(KeyboardInterrupt):
            ask()
        with stopped_by(lambda: asked.append(True)):
            pass
    assert asked == [True]
    assert STOPPED + came[0] == 143


def test_a_line_that_is_longer_than_anything_that_is_meant_is_cut_off(terminal: PipeInput) -> None:
    read = prompt_reader()
    terminal.send_text("x" * 5000 + "\n")
    assert read("your turn> ", []) == "x" * LONGEST_TYPED
