"""Arrow batches that can be read more than once: every scan begins anew."""

from collections.abc import Callable, Iterator
from typing import Any

from attrs import field, frozen

from discreet.core import optional


@frozen(kw_only=True)
class Batches:
    """A schema, and a way to begin reading its batches.

    An engine asks for the stream of the Arrow protocol each time that it scans, so that a plan may
    read a source twice. It hands no condition down: nothing is compared before it is cast.
    """

    schema: Any
    begin: Callable[[], Iterator[Any]] = field(repr=False)

    def reader(self) -> Any:
        """Return a reader that stands before the first batch."""
        return optional.load("pyarrow").RecordBatchReader.from_batches(self.schema, self.begin())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Begin a stream of the Arrow C interface."""
        return self.reader().__arrow_c_stream__(requested_schema)
