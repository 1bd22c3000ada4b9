"""The collector as an ASGI application: the survey's page, its form, and the door for reports."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from importlib.resources import files
from typing import Any

from discreet.core.canonical import canonical
from discreet.core.errors import CollectionError, SurveyClosed, TooLarge, TooMany
from discreet.local.survey.survey import Survey
from discreet.server.collector.batch import MOST_REPORTS, SentBatch, read_batch
from discreet.server.collector.page import survey_page
from discreet.server.collector.report_store import ReportStore, not_kept

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MOST_BODY = 1 << 23
MOST_WAITING = 10_000
"""How many batches may wait to be written before more are turned away."""

MOST_HELD = 1 << 27
"""How many bytes of long batches may be here at once, unfinished or not written yet."""

_SHORT = 1 << 16
"""Up to so many bytes a batch takes no room of others, so that few long ones keep nobody out."""

_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""What browsers let the page do: run its own script, and never send a form by themselves."""

_SCRIPT = "text/javascript; charset=utf-8"

_TOGETHER = 1_000
"""How many batches are written in one transaction, at most."""

_SECONDS = 30.0
"""How long a device may take to send a batch."""


class Collector:
    """Takes batches of one survey, and answers when they are on the disk.

    What waits is written together: whoever sends while a transaction is under way shares the next.
    Nothing about who sent is kept, counted or logged. How often batches are taken is limited over
    all senders together, because limits for each would need their addresses. So is the memory that
    long batches take from their first byte until they are answered.
    """

    def __init__(
        self, store: ReportStore, *, rate: int = 2_000, today: Callable[[], date] | None = None
    ) -> None:
        self.survey: Survey = store.survey
        self._store = store
        self._rate = rate
        self._today = today or _utc_day
        self._allowance = float(rate)
        self._seen = time.monotonic()
        self._held = 0
        self._is_ended = store.is_ended()
        self._waiting: list[tuple[SentBatch, asyncio.Future[bool]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._largest = min(MOST_BODY, 512 + MOST_REPORTS * (8 + 4 * (self.survey.size // 3 + 1)))
        self._pages = {
            "/": ("text/html; charset=utf-8", survey_page(self.survey).encode()),
            "/survey.json": ("application/json", canonical(self.survey.published()).encode()),
            "/device.js": (_SCRIPT, _file("discreet.local.device", "device.js")),
            "/page.js": (_SCRIPT, _file("discreet.server.collector", "page.js")),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or one lifetime of a server."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path = scope["method"], scope["path"]
        if method == "OPTIONS":
            await _answer(send, 204, "text/plain", b"")
        elif path == "/reports" and method == "POST":
            await self._take(receive, send)
        elif path in self._pages and method in ("GET", "HEAD"):
            await _answer(send, 200, *self._pages[path], has_body=method == "GET")
        else:
            await _answer(send, 404, "text/plain", b"There is nothing here.\n")

    async def _take(self, receive: Receive, send: Send) -> None:
        try:
            self._admit()
            with self._room() as make_room:
                async with asyncio.timeout(_SECONDS):
                    body = await self._body(receive, make_room)
                is_new = await self._keep(read_batch(body, self.survey))
        except TimeoutError:
            await _answer(send, 408, "text/plain", b"")
        except CollectionError as error:
            await _answer(
                send, error.status, "application/json", canonical(error.to_json()).encode()
            )
        else:
            kept = b'{"kept":true}' if is_new else b'{"kept":"before"}'
            await _answer(send, 201 if is_new else 200, "application/json", kept)

    def _admit(self) -> None:
        """Refuse what comes too late, or too much at once."""
        now = time.monotonic()
        if self._is_ended:
            raise SurveyClosed("The survey is closed", next="Nothing needs to be sent any more")
        until = self.survey.until
        if until is not None and self._today() > until:
            raise SurveyClosed(f"The survey took reports until {until}", next="It is over")
        gained = (now - self._seen) * self._rate
        self._allowance, self._seen = min(self._rate, self._allowance + gained), now
        if self._allowance < 1 or len(self._waiting) >= MOST_WAITING:
            raise _too_many()
        self._allowance -= 1

    @contextmanager
    def _room(self) -> Iterator[Callable[[int], None]]:
        """Hand out a function that counts so many bytes of one batch, until it is answered."""
        taken = 0

        def make_room(size: int) -> None:
            nonlocal taken
            more = max(0, size - _SHORT) - taken
            if self._held + more > MOST_HELD:
                raise _too_many()
            taken += more
            self._held += more

        try:
            yield make_room
        finally:
            self._held -= taken

    async def _body(self, receive: Receive, make_room: Callable[[int], None]) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise TimeoutError
            body += message.get("body", b"")
            if len(body) > self._largest:
                raise TooLarge(
                    "The batch is too large", must=f"have at most {self._largest:,} bytes"
                )
            make_room(len(body))
            if not message.get("more_body", False):
                return bytes(body)

    async def _keep(self, batch: SentBatch) -> bool:
        """Wait until the batch is on the disk; return whether it is new."""
        kept: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((batch, kept))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await asyncio.shield(kept)

    async def _write(self) -> None:
        while self._waiting:
            together, self._waiting = self._waiting[:_TOGETHER], self._waiting[_TOGETHER:]
            try:
                added = await asyncio.to_thread(self._store.add, [batch for batch, _ in together])
            except Exception as cause:  # whatever it is, nobody may wait for an answer for ever
                error = cause if isinstance(cause, CollectionError) else not_kept()
                self._is_ended = isinstance(error, SurveyClosed)
                for _, kept in together:
                    kept.set_exception(error)
            else:
                for (_, kept), is_new in zip(together, added, strict=True):
                    kept.set_result(is_new)


def _too_many() -> TooMany:
    return TooMany("Too many reports arrive", next="Send the same batch again in a minute")


def _utc_day() -> date:
    return datetime.now(UTC).date()


def _file(package: str, name: str) -> bytes:
    return (files(package) / name).read_bytes()


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def _answer(
    send: Send, status: int, kind: str, body: bytes, *, has_body: bool = True
) -> None:
    headers = {
        "content-type": kind,
        "content-length": str(len(body)),
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "content-security-policy": _POLICY,
        "access-control-allow-origin": "*",
        "access-control-allow-headers": "content-type",
    }
    written = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": written})
    await send({"type": "http.response.body", "body": body if has_body else b""})
