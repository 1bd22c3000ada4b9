"""Whether this installation can do its work: Python, libraries, randomness, an engine, room."""

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from importlib import metadata, util

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.cli.diagnosis import Diagnosis, broken, doubtful, fine, looked_at
from discreet.core import optional
from discreet.engines.duckdb.databases import Databases
from discreet.randomness.rng import SystemRng
from discreet.randomness.samplers import discrete_laplace

OLDEST_PYTHON = (3, 11)

ROOM = 2 * 1024**3
"""So many bytes should be free where an engine puts what does not fit into memory."""

OPTIONAL = ("pandas", "polars", "matplotlib")
"""Libraries that some outputs need."""

MADE = datetime(2026, 1, 1, tzinfo=UTC)
"""A clock that shows an earlier time is wrong."""


def installation() -> list[Diagnosis]:
    """Look at everything that does not depend on a project."""
    looks = {
        "Python": _python,
        "libraries": _libraries,
        "random words": _words,
        "noise": _noise,
        "engine": _engine,
        "room for large answers": _room,
        "clock": _clock,
    }
    return [one for subject, look in looks.items() for one in looked_at(subject, look)]


def _python() -> Iterator[Diagnosis]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        least = ".".join(map(str, OLDEST_PYTHON))
        yield broken("Python", version, f"Install Python {least} or newer")
    else:
        yield fine("Python", version)


_REQUIREMENT = re.compile(r"^([A-Za-z0-9_.-]+)\s*>=\s*([0-9.]+)$")


def _libraries() -> Iterator[Diagnosis]:
    told, own = [], f"discreet {metadata.version('discreet')}"
    for line in metadata.requires("discreet") or ():
        match = _REQUIREMENT.match(line.strip())
        if match is None:
            continue
        name, least = match.groups()
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            yield broken(name, "is not installed", f"Run: pip install '{name}>={least}'")
            continue
        if numbers(version) < numbers(least):
            yield broken(name, f"{version} is too old", f"Run: pip install '{name}>={least}'")
        told.append(f"{name} {version}")
    there = [name for name in OPTIONAL if _is_there(name)]
    told += [f"{name} {metadata.version(name)}" for name in there]
    yield fine("libraries", ", ".join([own, *told]))
    missing = [name for name in OPTIONAL if name not in there]
    if missing:
        yield fine("not installed", f"{', '.join(missing)}, which only some outputs need")


def _is_there(name: str) -> bool:
    return util.find_spec(name) is not None


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, to compare.

    Example:
        >>> numbers("10.2.1rc1") > numbers("9.11")
        True
    """
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def _words() -> Iterator[Diagnosis]:
    """Encrypt what NIST encrypted (SP 800-38A, F.5.5), and draw words that must differ."""
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    plain = bytes.fromhex("6bc1bee22e409f96e93d7e117393172a")
    known = bytes.fromhex("601ec313775789a5b7a7f504bbf3d228")
    found = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor().update(plain)
    words = SystemRng().words(8)
    # Eight equal pairs of ideal words come up once in 2**256 times.
    is_fresh = not bool((words == SystemRng().words(8)).all())
    if found == known and is_fresh:
        yield fine("random words", "AES-256 gives its known answer, and two draws differ")
    else:
        told = "AES-256 does not give its known answer" if found != known else "they are repeated"
        yield broken("random words", told, "Ask nothing on this machine: noise would hide nobody")


DRAWS = 4_096
ZEROS = Fraction(462, 1_000)
"""The share of zeros of discrete Laplace noise of scale 1, (1 - 1/e) / (1 + 1/e)."""
FARTHEST = Fraction(1, 10)


def _noise() -> Iterator[Diagnosis]:
    """Draw noise and count zeros.

    Sound noise is farther away than this with probability 2 exp(-2 n t²) < 1e-35 at most, for
    n = 4096 draws and t = 0.099 (Hoeffding).
    """
    drawn = discrete_laplace(Fraction(1), (DRAWS,), SystemRng())
    share = Fraction(int((drawn == 0).sum()), DRAWS)
    if abs(share - ZEROS) < FARTHEST:
        yield fine("noise", f"{DRAWS:,} draws are spread as they must be")
    else:
        yield broken("noise", "draws are not spread as they must be", "Ask nothing on this machine")


def _engine() -> Iterator[Diagnosis]:
    databases = Databases()
    try:
        with databases.lent() as cursor:
            is_right = cursor.execute("SELECT 6 * 7").fetchone() == (42,)
    finally:
        databases.close()
    version = optional.load("duckdb").__version__
    if is_right:
        yield fine("engine", f"duckdb {version} opens and answers")
    else:
        yield broken("engine", "duckdb gives a wrong answer", "Install it anew")


def _room() -> Iterator[Diagnosis]:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    told = f"{free // 1024**2:,} MiB are free in {folder}"
    if free < ROOM:
        advice = "Make room there, or set TMPDIR to a folder of yours that has more"
        yield doubtful("room for large answers", told, advice)
    else:
        yield fine("room for large answers", told)


def _clock() -> Iterator[Diagnosis]:
    now = datetime.now(UTC)
    steady = time.get_clock_info("monotonic").monotonic
    told = f"{now:%Y-%m-%d %H:%M} UTC"
    if now < MADE or not steady:
        yield broken("clock", told, "Set the clock: deadlines and abandoned questions depend on it")
    else:
        yield fine("clock", told)
