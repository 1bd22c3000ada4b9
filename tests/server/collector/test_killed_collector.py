"""A real collector over loopback, killed in the middle: what it acknowledged is counted once."""

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from discreet.local.device.survey_device import SurveyDevice
from tests.support.local.device_law import CLIENT
from tests.support.local.surveys import TEXT, small_survey
from tests.support.statistics.soak import Soak

HOST = "127.0.0.1"
CLIENTS = Path(__file__).parent / "clients.mjs"
LANES = 8
PATIENCE = 600  # tries of 50 ms: a collector that never comes back fails the test


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def started(folder: Path, port: int) -> subprocess.Popen[bytes]:
    words = ["survey", "serve", "--port", str(port), "--rate", "100000", "--store", "kept.reports"]
    process = subprocess.Popen(
        [sys.executable, "-m", "discreet", *words], cwd=folder, stdout=subprocess.DEVNULL
    )
    for _ in range(PATIENCE):
        try:
            socket.create_connection((HOST, port), timeout=1).close()
        except OSError:
            assert process.poll() is None, "the collector ended"
            time.sleep(0.05)
        else:
            return process
    raise AssertionError("the collector did not begin")


def send(port: int, batch: str) -> str:
    """Send a batch until it is acknowledged; return its token."""
    for _ in range(PATIENCE):
        connection = http.client.HTTPConnection(HOST, port, timeout=10)
        try:
            connection.request("POST", "/reports", batch)
            if connection.getresponse().status in (200, 201):
                return str(json.loads(batch)["token"])
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.05)
    raise AssertionError("never acknowledged")


def kept(folder: Path) -> list[str]:
    connection = sqlite3.connect(folder / "kept.reports")
    tokens = [row[0].hex() for row in connection.execute("SELECT token FROM batches")]
    connection.close()
    return tokens


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "survey.toml").write_text(TEXT)
    return tmp_path


def test_acknowledged_batches_survive_a_kill_and_count_once(folder: Path, soak: Soak):
    clients, survey, port = 5_000 if soak.active else 500, small_survey(), free_port()
    process = started(folder, port)
    node = subprocess.Popen(
        ["node", str(CLIENTS), CLIENT.as_uri(), f"http://{HOST}:{port}", str(clients), str(LANES)],
        stdout=subprocess.PIPE,
    )
    acknowledged: list[str] = []

    def client(number: int) -> None:
        made = SurveyDevice(survey.published(), {}).batch({"minutes": number % 240})
        assert made is not None
        acknowledged.append(send(port, made))

    with ThreadPoolExecutor(LANES) as pool:
        waiting = [pool.submit(client, number) for number in range(clients)]
        while len(acknowledged) < clients // 2:
            time.sleep(0.01)
        before = list(acknowledged)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert set(before) <= set(kept(folder))
        process = started(folder, port)
        for one in waiting:
            one.result()
    printed, _ = node.communicate()
    assert node.returncode == 0
    process.terminate()
    process.wait()
    everybody = [*acknowledged, *json.loads(printed)]
    assert len(everybody) == 2 * clients
    assert sorted(kept(folder)) == sorted(everybody)


def test_a_collector_that_is_told_to_end_leaves_one_whole_file(folder: Path):
    """The log beside it has what came last, in the order in which it came."""
    port = free_port()
    process = started(folder, port)
    for _ in range(5):
        made = SurveyDevice(small_survey().published(), {}).batch({})
        assert made is not None
        send(port, made)
    process.terminate()
    assert process.wait() == 0
    assert not (folder / "kept.reports-wal").exists()
    assert len(kept(folder)) == 5
