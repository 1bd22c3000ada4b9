"""The engine is chosen by the declaration, and each one there is passes the contract."""

import pytest

from discreet.core.errors import DeclarationError
from discreet.engines.duckdb.engine import DuckDbEngine
from discreet.engines.open_engine import ENGINES, open_engine
from tests.support.projects import engines
from tests.support.projects.declared import GOOD, parsed


def test_the_embedded_engine_is_the_default(tmp_path):
    for text in (GOOD, f'engine = "duckdb"\n{GOOD}'):
        engine = open_engine(parsed(text, tmp_path))
        assert isinstance(engine, DuckDbEngine)
        engine.close()


def test_an_unknown_engine_is_refused_and_the_known_ones_named(tmp_path):
    with pytest.raises(DeclarationError, match=r"must be .*\"duckdb\".*got 'oracle'"):
        open_engine(parsed(f'engine = "oracle"\n{GOOD}', tmp_path))


def test_every_engine_passes_the_contract():
    """Its tests are run on this list: an engine that is not in it could not be declared."""
    assert set(engines.ENGINES) == set(ENGINES)
