"""From SQL to a bounded plan, without anything that is spent or stored."""

from discreet.curator.answer import bound
from discreet.sql.parse import parse
from discreet.sql.resolve import resolve
from discreet.tables.catalog import Catalog
from discreet.tables.plans.engine import Engine
from discreet.tables.plans.plan import BoundedPlan


def plan_of(sql: str, catalog: Catalog, engine: Engine) -> BoundedPlan:
    """Return the bounded plan of a query."""
    return bound(resolve(parse(sql), catalog, engine.public_rows))
