"""A program that keeps the protocol of players or fails to, as its first argument says.

It knows nothing of the package. A second argument is a file in which it notes what it is sent.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from typing import Any

HELLO = {"type": "hello", "protocol": 1, "name": "odd"}


def say(answer: Any) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def last_legal(request: dict[str, Any]) -> dict[str, Any]:
    return {"id": request["id"], "action": request["legal"][-1]}


def lines() -> Any:
    """Iterate over what is sent, and note it."""
    with contextlib.ExitStack() as stack:
        notes = stack.enter_context(open(sys.argv[2], "a")) if len(sys.argv) > 2 else None
        while line := sys.stdin.readline():
            if notes is not None:
                notes.write(line)
                notes.flush()
            yield json.loads(line)


def answer(how: str, request: dict[str, Any]) -> None:
    """Answer one decision, or do something else."""
    wrong = {
        "rubbish": "rubbish",
        "illegal": {"id": request["id"], "action": "ask +9 nothing"},
        "stranger": {"id": 10**9, "action": request["legal"][0]},
    }
    if how in wrong:
        say(wrong[how])
    elif how != "silent":
        misbehave(how, request)


def misbehave(how: str, request: dict[str, Any]) -> None:
    if how == "crash":
        sys.stderr.write("Traceback\nZeroDivisionError: \x1b[31mof mine\n")
        sys.exit(3)
    elif how == "flood":
        while True:
            sys.stdout.write("no end\n" * 1000)
    elif how == "long":
        while True:
            sys.stdout.write("no end" * 1000)
    elif how == "noisy":
        sys.stderr.write("chatter\n" * 50_000)
        say(last_legal(request))
    elif how == "forks":
        child = subprocess.Popen(["sleep", "600"])
        with open(sys.argv[3], "w") as file:
            file.write(str(child.pid))
        time.sleep(600)
    else:
        say(last_legal(request))


def reversed_batches() -> None:
    """Answer whatever is there in the reverse order."""
    os.set_blocking(0, False)
    rest = b""
    while True:
        select.select([0], [], [], 5)
        time.sleep(0.2)
        chunk = b""
        with contextlib.suppress(BlockingIOError):
            while part := os.read(0, 1 << 20):
                chunk += part
            return
        *whole, rest = (rest + chunk).split(b"\n")
        for line in reversed(whole):
            request = json.loads(line)
            if request["type"] == "hello":
                say(HELLO)
            elif request["type"] == "decide":
                say(last_legal(request))


def main() -> None:
    how = sys.argv[1]
    if how == "reversed":
        reversed_batches()
        return
    refused = 0
    for request in lines():
        if request["type"] == "hello":
            say({**HELLO, "protocol": 2} if how == "other" else "hello" if how == "unkind" else HELLO)
            if how == "deaf":
                time.sleep(600)
        elif request["type"] == "refused":
            refused += 1
        elif request["type"] == "decide" and how == "mends":
            say({"id": request["id"], "action": "nonsense"})
            wrong = json.loads(sys.stdin.readline())
            assert wrong["type"] == "refused", wrong
            assert wrong["id"] == request["id"], wrong
            say(last_legal(request))
        elif request["type"] == "decide":
            answer(how, request)
    if how == "stays":
        time.sleep(600)


main()
