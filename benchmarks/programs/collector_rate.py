"""Print what a collector takes: ``collector_rate.py REPORTS EACH``, or ``... results``.

A real collector, ``discreet survey serve``, runs as a process of its own and gets so many reports,
EACH in a batch, from another process over loopback: 32 connections that are kept open, each with
one batch at a time, the next when it is acknowledged. So of two cores one serves, and one sends.
``rate`` is in batches a second: each was checked, and on the disk before it was acknowledged. It
is that of the best of five parts, because it is measured by the clock.
``mebibytes`` is the most memory that the collector ever had; with ``results`` that of the process
that estimates from all that it kept, ``discreet survey results``.
"""

import asyncio
import base64
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LANES = 32
PARTS = 5
PATIENCE = 600
"""Tries of 50 ms until the collector listens."""

HOST = "127.0.0.1"
SURVEY = """
name = "app"
purpose = "What shall we work on?"

[questions.platform]
text = "Where do you use it?"
values = ["phone", "tablet", "computer"]
epsilon = 2
scheme = "k_ary"

[questions.colour]
text = "Which colour?"
values = ["red", "green", "blue", "black", "white", "yellow", "brown"]
epsilon = 1
scheme = "unary"
"""
DISCREET = [sys.executable, "-m", "discreet", "survey"]
STORE = ["--store", "kept.reports"]


def free_port() -> int:
    """Return a port that nothing listens at."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def started(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Return a collector that listens."""
    words = [*DISCREET, "serve", "--port", str(port), "--rate", "1000000", *STORE]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)
    for _ in range(PATIENCE):
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return process
    raise RuntimeError("the collector did not begin")


def request(version: str, each: int) -> bytes:
    """Return a batch of reports, as HTTP; what they say does not matter, if a device can say it."""
    report = base64.b64encode(bytes([secrets.randbelow(4), secrets.randbelow(256)])).decode()
    sent = {"survey": version, "token": secrets.token_hex(16), "reports": [report] * each}
    body = json.dumps(sent).encode()
    head = f"POST /reports HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def lane(port: int, waiting: list[bytes]) -> None:
    """Send one batch after the other over one connection."""
    reader, writer = await asyncio.open_connection(HOST, port)
    while waiting:
        writer.write(waiting.pop())
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 201"):
            raise RuntimeError(head.decode())
        length = head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]
        await reader.readexactly(int(length))
    writer.close()


async def send(port: int, waiting: list[bytes]) -> float:
    """Return how many batches were acknowledged in a second, in the best of five parts."""
    rates = []
    for part in range(PARTS):
        batches = waiting[part::PARTS]
        count, start = len(batches), time.perf_counter()
        await asyncio.gather(*(lane(port, batches) for _ in range(LANES)))
        rates.append(count / (time.perf_counter() - start))
    return max(rates)


def most_memory(process: int) -> float:
    """Return the most memory that a process ever had, in mebibytes."""
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def memory_of_results(folder: Path) -> float:
    """Return the most memory of the process that estimates."""
    process = subprocess.Popen(
        [*DISCREET, "results", *STORE], cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError("there are no results")
    return used.ru_maxrss / 1024


def measured(folder: Path, reports: int, each: int, *, estimates: bool) -> dict[str, float]:
    """Return the rate, and the memory of the collector or of the estimates."""
    (folder / "survey.toml").write_text(SURVEY, encoding="utf-8")
    checked = subprocess.run(
        [*DISCREET, "check", "--json"], cwd=folder, capture_output=True, check=True
    )
    version = json.loads(checked.stdout)["version"]
    waiting = [request(version, each) for _ in range(reports // each)]
    port = free_port()
    process = started(folder, port)
    try:
        rate = asyncio.run(send(port, waiting))
        memory = most_memory(process.pid)
    finally:
        process.terminate()
        process.wait()
    return {"rate": rate, "mebibytes": memory_of_results(folder) if estimates else memory}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        found = measured(
            Path(made), int(sys.argv[1]), int(sys.argv[2]), estimates="results" in sys.argv
        )
    print(json.dumps(found))
