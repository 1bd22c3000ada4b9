"""An opened project: declarations, an engine, a ledger, and randomness."""

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from discreet.core.errors import InvalidArgument
from discreet.core.protocols import Rng
from discreet.engines.open_engine import open_engine
from discreet.ledger.kept_open import KEPT_OPEN
from discreet.ledger.ledger import Ledger
from discreet.ledger.versions import DataVersion
from discreet.project.exact_rows import require_exact_rows_in_one_space
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
    copied: Mapping[str, int] = field(factory=dict)
    """Of rows that were copied when they were opened: which version they are, by id space."""

    def data_version(self, id_space: str) -> DataVersion:
        """Return the current version of an id space's data, which must be the one that is read.

        Guarantee:
            What is charged and stored for a version is computed from the rows of that version: a
            copy of the rows of another one is refused, before anything is charged. So are rows of
            which somebody has published exactly since this was opened, in another id space.
        """
        require_exact_rows_in_one_space(self.catalog, self.ledger)
        version = self.ledger.data_version(id_space, self.rng)
        if self.copied.get(id_space, version.number) != version.number:
            raise InvalidArgument(
                f"The data of {id_space} were replaced since these were opened",
                must="be the newest, or an answer about old rows would be stored for new ones",
                next="Nothing was charged. Open the newest with discreet.own, and connect again",
            )
        return version

    def close(self) -> None:
        """Close the engine, and let go of the ledger, every step of which is durable already."""
        self.engine.close()
        if not self.catalog.is_in_memory:
            KEPT_OPEN.close(self.catalog.ledger.resolve())


def open_project(path: str | Path) -> Project:
    """Open the project whose ``discreet.toml`` is at ``path`` (the file, or its folder)."""
    catalog = read_catalog(Path(path))
    engine = open_engine(catalog)
    return Project(catalog=catalog, engine=engine, ledger=open_ledger(catalog), rng=SystemRng())
