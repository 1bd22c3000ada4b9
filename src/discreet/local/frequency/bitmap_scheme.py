"""What schemes have in common whose reports are a bit for each value."""

import numpy as np
from numpy.typing import NDArray

from discreet.core.protocols import IntArray
from discreet.local.frequency.bitmaps import bitmap_bytes, bits_set, no_spare_bits
from discreet.local.frequency.frequency_scheme import FrequencyScheme
from discreet.local.report_numbers import Reports


class BitmapScheme(FrequencyScheme):
    """A scheme whose reports name values, by one bit for each: a report supports what it names."""

    @property
    def size(self) -> int:
        """How many bytes a report has."""
        return bitmap_bytes(self.categories)

    def possible(self, reports: Reports) -> NDArray[np.bool_]:
        """Tell which reports an honest device can make: those that name no other value."""
        return no_spare_bits(self.check_reports(reports), self.categories)

    def tally(self, reports: Reports) -> IntArray:
        """Return how many reports name each value."""
        return bits_set(self.check_possible(reports), self.categories)
