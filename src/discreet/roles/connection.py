"""A connection: what an analyst holds. It has no way to the rows but :meth:`Connection.sql`."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from weakref import WeakSet

from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Approximate
from discreet.core.numbers import Number
from discreet.curator import answer as answering
from discreet.curator import batch as batches
from discreet.curator import free_answer as free_answers
from discreet.curator import rehearse as rehearsals
from discreet.curator.budget import budget_status, project_page
from discreet.curator.explanation import explanation as explanations
from discreet.curator.profile import profile as profiles
from discreet.curator.profile import stored_profile
from discreet.ledger.chain import Point
from discreet.ledger.history import History
from discreet.ledger.order import Receipt
from discreet.ledger.under_way import telling
from discreet.project.declared_tables import Tables
from discreet.project.project import Project, open_project
from discreet.project.stage import DEFAULT_ROWS
from discreet.project.terms import Terms
from discreet.releases import free_answer as released_free_answer
from discreet.releases import profile as released_profile
from discreet.releases import release as released_answer
from discreet.releases.accuracy import Accuracy
from discreet.roles import stored_releases
from discreet.roles.closing import ClosedAtEnd
from discreet.roles.holding_out import HoldingOut
from discreet.roles.publishing import Publishing
from discreet.roles.question_terms import question_terms
from discreet.roles.related_tables import RelatedTables
from discreet.roles.synthesising import Synthesising
from discreet.tables.catalog import Catalog, PublicTable, Table
from discreet.tables.naming_units import naming_units

LOCAL_ANALYST = "local"


class Connection(Publishing, Synthesising, RelatedTables, HoldingOut, ClosedAtEnd):
    """An open project in the hands of an analyst: ask, explain, rehearse, and see what is left.

    It has no way to what only the owner does (:class:`~discreet.roles.owner.Owner`).
    In local use the caller can read the files anyway: what is *published* is protected then.
    """

    def __init__(self, project: Project, *, default: Terms | None, analyst: str) -> None:
        self._project = project
        self._is_closed = False
        self._default = Terms() if default is None else default
        self._analyst = analyst
        self._dialogues = WeakSet()

    @telling
    def sql(
        self,
        query: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        accuracy: Accuracy | Number | None = None,
        delta: Number | None = None,
        rows_per_group: int | None = None,
        groups_per_unit: int | None = None,
        rows_per_unit: int | None = None,
        limits: str | None = None,
        fresh: bool = False,
    ) -> "released_answer.Release | released_free_answer.FreeAnswer":
        """Return a private answer, for the price that is given or else the default one.

        A statement for which no private row is needed is answered for nothing, whatever the price:
        one about public tables, about declared keys (``SELECT DISTINCT clinic FROM visits``) or
        about columns (``LIMIT 0``).

        ``epsilon`` buys discrete Laplace noise; ``rho``, for a budget that knows it, whichever
        noise errs less; ``accuracy`` says how close the answer must be, such as ``"±50 at 95 %"``,
        and the price follows. ``delta`` is for groups that are not public; where they are, it is
        spent on Gaussian noise if that errs less, and 0 offers none. ``rows_per_group`` and
        ``groups_per_unit`` say how much of one unit counts, instead of what is declared, and
        ``rows_per_unit`` how many of its rows over all groups (the other two follow, unless given);
        ``limits="auto"`` takes those with the least expected error, by the profile of the table;
        without one, a fifth of the price buys a private choice of limits.

        The same question at the same price is answered from the stored release, for nothing, and
        so is one at a lower price if nothing in the stored release is noisier; a ``fresh`` answer
        has new noise and is paid for again.
        """
        given = (rows_per_group, groups_per_unit, rows_per_unit)
        with naming_units(self._project.catalog, query):
            terms = question_terms(epsilon, rho, accuracy, delta, given, limits)
            free = free_answers.free_answer(self._opened(), query)
            if free is not None:
                return free
            return answering.answer(
                self._opened(),
                query,
                terms=terms,
                default=self._default,
                analyst=self._analyst,
                fresh=fresh,
            )

    def explain(
        self,
        query: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        accuracy: Accuracy | Number | None = None,
        delta: Number | None = None,
        rows_per_group: int | None = None,
        groups_per_unit: int | None = None,
        rows_per_unit: int | None = None,
        limits: str | None = None,
    ) -> "explanations.Explanation | free_answers.FreeExplanation":
        """Return what :meth:`sql` would do and cost, without reading or spending anything."""
        given = (rows_per_group, groups_per_unit, rows_per_unit)
        with naming_units(self._project.catalog, query):
            terms = question_terms(epsilon, rho, accuracy, delta, given, limits)
            free = free_answers.free_explanation(self._opened(), query)
            if free is not None:
                return free
            return answering.explain(
                self._opened(), query, terms=terms, default=self._default, analyst=self._analyst
            )

    def rehearse(
        self,
        query: str,
        *,
        rows: int = DEFAULT_ROWS,
        epsilon: Number | None = None,
        rho: Number | None = None,
        accuracy: Accuracy | Number | None = None,
        delta: Number | None = None,
        rows_per_group: int | None = None,
        groups_per_unit: int | None = None,
        rows_per_unit: int | None = None,
        limits: str | None = None,
    ) -> "rehearsals.Rehearsal":
        """Return what :meth:`sql` would look like, on made-up rows; nothing is read or spent."""
        given = (rows_per_group, groups_per_unit, rows_per_unit)
        with naming_units(self._project.catalog, query):
            terms = question_terms(epsilon, rho, accuracy, delta, given, limits)
            return rehearsals.rehearse(
                self._opened(), query, terms=terms, default=self._default, rows=rows
            )

    @telling
    def batch(
        self,
        queries: Sequence[str],
        *,
        epsilon: Number,
        delta: Number,
        rows_per_group: int | None = None,
        groups_per_unit: int | None = None,
        rows_per_unit: int | None = None,
        limits: str | None = None,
        fresh: bool = False,
    ) -> "tuple[released_answer.Release, ...]":
        """Return private answers to several questions at once, for (ε, δ) together.

        They are fixed before the first answer, so they are accounted for as one: with less noise
        than one by one. The cost of each release is that of the whole batch. Limits hold for every
        question of it; ``limits="auto"`` takes for each what the profile of its table proposes, and
        needs one. The rest is as for :meth:`sql`.
        """
        if isinstance(queries, str):
            raise InvalidArgument(
                "A batch is a list of questions", must="be several texts", got="one text"
            )
        given = (rows_per_group, groups_per_unit, rows_per_unit)
        with naming_units(self._project.catalog, *queries):
            terms = question_terms(None, None, None, None, given, limits)
            return batches.answer_batch(
                self._opened(),
                queries,
                target=Approximate(epsilon, delta),
                analyst=self._analyst,
                limits=terms.limits(),
                is_auto=terms.chosen_limits is not None,
                fresh=fresh,
            )

    def budget(self) -> "budget_status.Budgets":
        """Return what is spent and left in every id space, by everybody and by this analyst."""
        ledger, spaces = self._project.ledger, self._project.catalog.id_spaces
        return budget_status.Budgets(
            budget_status.budget_status(ledger, space, self._analyst) for space in spaces
        )

    def catalog(self) -> Catalog:
        """Return everything that is declared."""
        return self._project.catalog

    def tables(self) -> Tables[Table]:
        """Return the declared private tables: what may be asked about."""
        return Tables.of(self._project.catalog, self._project.catalog.tables)

    def public_tables(self) -> Tables[PublicTable]:
        """Return the declared public tables: what may be joined with, and looked at, for free."""
        return Tables.of(self._project.catalog, self._project.catalog.public_tables)

    def history(self, *, last: int | None = None) -> History:
        """Return the entries of the ledger, oldest first: all, or the ``last`` so many."""
        return self._project.ledger.entries(last=_count(last))

    def verify(self, *receipts: Receipt, is_recent: bool = False) -> Point:
        """Recompute the ledger, which must hold what the ``receipts`` say; return its end.

        If ``is_recent``, only what came after the last verification is recomputed.
        """
        for receipt in receipts:
            if not isinstance(receipt, Receipt):
                raise InvalidArgument(
                    "That is not a receipt",
                    must="be the receipt of a release, such as release.receipt",
                    got=type(receipt).__name__,
                )
        return self._project.ledger.verify(*receipts, is_recent=is_recent)

    def releases(
        self, ticket: int | None = None, *, last: int | None = None
    ) -> "stored_releases.StoredAnswers":
        """Return the releases that are stored, oldest first: everybody's, for they are public.

        With a ``ticket`` they are what it paid for: one answer, or those of a batch; else all, or
        the ``last`` so many. ``releases()[-1].open()`` is the newest one as a release, which costs
        nothing more. What was made by a version with a fault says so in its notes.
        """
        return stored_releases.stored_answers(
            self._project, check.optional_whole(ticket), _count(last)
        )

    def profile(self, table: str) -> "released_profile.Profile | None":
        """Return how much the units of a table contribute, if the owner has profiled it."""
        named = profiles.private_table(self._project, table)
        found = stored_profile.find_profile(self._project, named)
        return None if found is None else stored_profile.with_void(self._project, found)

    def __repr__(self) -> str:
        """Say who asks about what; what is said about a ledger in memory is said here too."""
        return project_page.project_line(f"Connection of {self._analyst} to", self._project.catalog)

    def _repr_html_(self) -> str:
        catalog = self._project.catalog
        if self._is_closed:
            return project_page.project_html(
                "A closed connection", catalog, budget_status.Budgets(), []
            )
        notes = [
            project_page.price_sentence(self._default, catalog),
            "tables() has columns, ranges and keys",
        ]
        return project_page.project_html(
            f"Questions by {self._analyst}", catalog, self.budget(), notes
        )

    def close(self) -> None:
        """Close the engine and let go of the ledger; dialogues end."""
        self._is_closed = True
        for dialogue in list(self._dialogues):
            dialogue.close()
        self._project.close()

    def _opened(self) -> Project:
        """Return the project, for a question; a connection that is closed asks none."""
        if self._is_closed:
            raise InvalidArgument(
                "The connection is closed",
                must="be open to ask",
                next="Nothing was charged. Open another one with discreet.connect",
            )
        return self._project


def _count(last: int | None) -> int | None:
    count = check.optional_whole(last)
    if count is not None and count < 0:
        raise InvalidArgument("last is out of range", must="be at least 0", got=str(count))
    return count


def connect(
    project: str | Path = ".",
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    accuracy: Accuracy | Number | None = None,
    delta: Number | None = None,
    analyst: str = LOCAL_ANALYST,
) -> Connection:
    """Open the project whose ``discreet.toml`` is at ``project`` (the file, or its folder).

    ``epsilon``, ``rho`` or ``accuracy`` is the default price of each answer, and ``delta`` the δ
    that each may spend besides. Without them, each query must give its own, unless the owner
    declared a default.
    """
    default = Terms(epsilon=epsilon, rho=rho, accuracy=accuracy, delta=delta)
    return connect_to(partial(open_project, project), default=default, analyst=analyst)


def connect_to(opened: Callable[[], Project], *, default: Terms, analyst: str) -> Connection:
    """Open something for an analyst, who must have a name."""
    _require_name(analyst)
    return Connection(opened(), default=default, analyst=analyst)


LONGEST_NAME = 200
"""How many characters the name of an analyst has at most: each charge keeps it for good."""


def _require_name(analyst: str) -> None:
    if not isinstance(analyst, str) or not analyst:
        kind = "empty text" if analyst == "" else type(analyst).__name__
        raise InvalidArgument("The analyst has no name", must="be named by some text", got=kind)
    if len(analyst) > LONGEST_NAME:
        raise InvalidArgument(
            "The name of the analyst is too long",
            must=f"have at most {LONGEST_NAME} characters",
            got=f"{len(analyst):,}",
            next="The ledger keeps the name with every charge",
        )
    if not check.is_unicode(analyst):
        raise InvalidArgument(
            "The name of the analyst is not valid Unicode", must="have no lone surrogates"
        )
