"""Connections that say nothing, or never finish a request, end; others are answered first."""

import asyncio
from pathlib import Path

import pytest

from discreet.local.device.survey_device import SurveyDevice
from discreet.server.collector.app import Collector
from discreet.server.collector.connections import ending
from discreet.server.collector.report_store import ReportStore
from tests.server.collector.test_killed_collector import HOST, free_port
from tests.support.local.surveys import small_survey

PATIENCE = 60.0


def request(body: bytes) -> bytes:
    return b"POST /reports HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % len(body) + body


async def until_the_end(port: int, *sent: bytes) -> bytes:
    """Send the parts, waiting between them, and return all that comes until the server ends it."""
    reader, writer = await asyncio.open_connection(HOST, port)
    for part in sent:
        writer.write(part)
        await writer.drain()
        await asyncio.sleep(0.5)
    found = await reader.read()
    writer.close()
    return found


async def answers(store: ReportStore, port: int, sent: list[tuple[bytes, ...]]) -> list[bytes]:
    uvicorn = pytest.importorskip("uvicorn")
    protocol = pytest.importorskip("uvicorn.protocols.http.auto").AutoHTTPProtocol
    server = uvicorn.Server(
        uvicorn.Config(
            Collector(store),
            host=HOST,
            port=port,
            log_level="error",
            http=ending(protocol, 0.1),
            timeout_keep_alive=3600,
        )
    )
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    async with asyncio.timeout(PATIENCE):
        found = await asyncio.gather(*(until_the_end(port, *parts) for parts in sent))
    server.should_exit = True
    await running
    return found


def test_silent_connections_end_and_a_request_under_way_is_answered_first(tmp_path: Path):
    """Without the end the first three last for ever: the test would run out of patience."""
    store = ReportStore(tmp_path / "app.reports", small_survey())
    batch = SurveyDevice(small_survey().published(), {}).batch({})
    assert batch is not None
    whole = request(batch.encode())
    silent, begun, idle, slow = asyncio.run(
        answers(
            store,
            free_port(),
            [
                (),
                (b"POST /reports HT",),
                (b"GET / HTTP/1.1\r\nhost: x\r\n\r\n",),
                (whole[:-9], whole[-9:]),
            ],
        )
    )
    store.close()
    assert (silent, begun) == (b"", b"")
    assert idle.startswith(b"HTTP/1.1 200")
    assert slow.startswith(b"HTTP/1.1 201")
