"""An opened project: declarations, an engine, a ledger, and randomness."""

from pathlib import Path

from attrs import frozen

from discreet.core.protocols import Rng
from discreet.engines.open_engine import open_engine
from discreet.ledger.kept_open import KEPT_OPEN
from discreet.ledger.ledger import Ledger
from discreet.project.open_ledger import open_ledger
from discreet.randomness.rng import SystemRng
from discreet.tables.catalog import Catalog
from discreet.tables.declarations.declaration import read_catalog
from discreet.tables.plans.engine import Engine


@frozen(kw_only=True)
class Project:
    """All that a model of privacy needs to answer: what is declared, and by whom it is done."""

    catalog: Catalog
    engine: Engine
    ledger: Ledger
    rng: Rng

    def close(self) -> None:
        """Close the engine, and let go of the ledger, every step of which is durable already."""
        self.engine.close()
        KEPT_OPEN.close(self.catalog.ledger.resolve())


def open_project(path: str | Path) -> Project:
    """Open the project whose ``discreet.toml`` is at ``path`` (the file, or its folder)."""
    catalog = read_catalog(Path(path))
    engine = open_engine(catalog)
    return Project(catalog=catalog, engine=engine, ledger=open_ledger(catalog), rng=SystemRng())
