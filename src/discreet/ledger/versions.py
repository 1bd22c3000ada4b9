"""Versions of the data: which is current, and how the next one begins."""

from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng
from discreet.ledger.books import cap_of
from discreet.ledger.chain import Kind, broken, space
from discreet.ledger.store import Snapshot, Transaction


@frozen
class DataVersion:
    """One state of an id space's tables, as the owner counts them.

    Guarantee:
        ``number`` is a plain counter: it tells nothing about the rows. ``salt`` is 256 secret bits,
        never shown and never in the chain; choices keyed by it do not depend on data or analyst.
    """

    number: int
    salt: bytes = field(repr=False)


SALT_BYTES = 32
"""The length of a salt: 256 bits."""


def draw_salt(rng: Rng) -> bytes:
    """Return a fresh salt."""
    salt = rng.words(SALT_BYTES // 8).tobytes()
    if len(salt) != SALT_BYTES:
        raise InvalidArgument("The Rng gave too few bits", must="give 64-bit words")
    return salt


def current_version(snapshot: Snapshot, id_space: str) -> DataVersion | None:
    """Return the version that is current, or ``None`` before the first one."""
    cap_of(snapshot.latest, id_space)
    entry = snapshot.latest(Kind.VERSION, space(id_space))
    if entry is None:
        return None
    number: int = entry.payload["number"]
    salt = snapshot.salt(id_space, number)
    if salt is None:
        raise broken(entry.sequence, "the salt of this version is missing")
    return DataVersion(number, salt)


def begin_version(transaction: Transaction, id_space: str, salt: bytes) -> DataVersion:
    """Count one up and keep the salt, apart from the chain."""
    current = current_version(transaction, id_space)
    number = current.number + 1 if current else 1
    transaction.append(Kind.VERSION, {"id_space": id_space, "number": number})
    transaction.put_salt(id_space, number, salt)
    return DataVersion(number, salt)
