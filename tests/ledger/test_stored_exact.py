"""A ledger with an exact release, as this version wrote it, opens and is understood."""

from fractions import Fraction

from discreet.core.numbers import exact
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite_store import create_sqlite
from discreet.noiseless.composition import RowSet
from discreet.noiseless.exact.charged_releases import charged_releases
from tests.ledger.stored import restore


def test_what_was_asserted_is_read_again(tmp_path):
    ledger = Ledger(create_sqlite(restore("exact", tmp_path)))
    assert ledger.is_void("people")
    found = charged_releases(ledger, "people")
    assert [ticket for ticket, _ in found.noisy] == [3, 8]
    (one,) = found.exact
    statistic = one.statistic()
    assert (one.ticket, one.name, statistic.name) == (6, "total@1", "total@1")
    assert statistic.rows == RowSet("people", table="exams", version=1)
    assert statistic.features == {"sum(score in 0..100 by 0.5)"}
    assert statistic.epsilon == Fraction(1, 2)
    assert 0 < statistic.delta < exact("1e-6")
    stored = ledger.release_of(one.ticket)
    assert stored is not None
    assert stored[0]["kind"] == "exact"
