"""A version of the data: the owner's counter, and the secret salt that belongs to it."""

from attrs import field, frozen


@frozen
class DataVersion:
    """One state of an id space's tables, as the owner counts them.

    Guarantee:
        ``number`` is a plain counter: it tells nothing about the rows. ``salt`` is 256 secret bits,
        never shown and never in the chain; choices keyed by it do not depend on data or analyst.
    """

    number: int
    salt: bytes = field(repr=False)
