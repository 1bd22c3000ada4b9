"""Reads what a device sent: a batch of reports, or an error that says what is wrong with it."""

import base64
import binascii
import json
from typing import Any

import numpy as np
from attrs import frozen

from discreet.core.errors import BadBatch, OtherVersion
from discreet.local.device.draws import TOKEN_BYTES
from discreet.local.survey.survey import Survey
from discreet.local.survey.tallies import split_reports

MOST_REPORTS = 1_000
"""How many reports a batch may have."""


@frozen
class SentBatch:
    """Reports that were sent together, under a token that no other batch has."""

    token: bytes
    reports: bytes


def read_batch(body: bytes, survey: Survey) -> SentBatch:
    """Return the batch in a request, refusing what no device of this survey makes."""
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        raise BadBatch("The body is no JSON", must="be one object in UTF-8") from None
    if not isinstance(sent, dict) or set(sent) != {"survey", "token", "reports"}:
        raise BadBatch(
            "The body has another form", must="be an object of survey, token and reports"
        )
    if sent["survey"] != survey.version:
        raise OtherVersion(
            "The batch is of another version of the survey",
            must=f"be of version {survey.version[:12]}",
            next="Fetch the survey again, and ask the person again",
        )
    reports = _reports(sent["reports"], survey.size)
    _require_possible(reports, survey)
    return SentBatch(_token(sent["token"]), b"".join(reports))


def _token(text: Any) -> bytes:
    if isinstance(text, str) and len(text) == 2 * TOKEN_BYTES and text.isascii():
        try:
            return bytes.fromhex(text)
        except ValueError:
            pass
    raise BadBatch("The token has another form", must=f"be {2 * TOKEN_BYTES} hexadecimal digits")


def _reports(texts: Any, size: int) -> list[bytes]:
    if not isinstance(texts, list) or not 1 <= len(texts) <= MOST_REPORTS:
        raise BadBatch("The reports have another form", must=f"be a list of 1 to {MOST_REPORTS:,}")
    found = [_decoded(text) for text in texts]
    if any(len(report) != size for report in found):
        raise BadBatch("A report has another size", must=f"be of {size:,} bytes, in base64")
    return found


def _decoded(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except (binascii.Error, ValueError):
        return b""


def _require_possible(reports: list[bytes], survey: Survey) -> None:
    """Refuse reports that no honest device can make."""
    rows = np.frombuffer(b"".join(reports), dtype=np.uint8).reshape(-1, survey.size)
    for question, part in split_reports(survey, rows):
        if not question.scheme.possible(part).all():
            raise BadBatch(
                f"A report to '{question.name}' is none that a device makes",
                must="be made by the scheme of the question",
            )
