"""Synthetic rows: who was among the real ones, and what a model that learns from them repeats."""

from collections.abc import Callable
from decimal import ROUND_FLOOR
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.attacks.models.attempt import CERTAIN, AttackReport, Attempt
from discreet.attacks.reconstruction.guess_ceiling import GuessingRecord, guess_ceiling
from discreet.audit.learn_score import learn_score
from discreet.audit.one_run import audit_scores
from discreet.audit.outputs import LearnedScore
from discreet.core import check, optional
from discreet.core.errors import InvalidArgument
from discreet.core.loss import Pure, short
from discreet.core.numbers import exact
from discreet.core.protocols import IntArray, Rng
from discreet.randomness.samplers import bernoulli, uniform_integers
from discreet.roles.owner import own

SIZES = (16, 16, 2)
"""How many values the three columns have: two that anybody may know, and a secret."""

COLUMNS = ("street", "born", "secret")
_PLACES = SIZES[0] * SIZES[1]
_COUNTED_EXACTLY = LearnedScore((1.0, 0.0, 0.0))

Generator = Callable[[IntArray, Rng], IntArray]
"""Makes synthetic rows of real ones; each row has a number for each column."""


@frozen(kw_only=True)
class SyntheticAttack:
    r"""A game about canaries: people who stand alone in what anybody may know of them.

    Guarantee:
        Each canary's bit, whether it is in the rows or what its secret is, is a fair coin of its
        own. If rows of one canary more or less lose :math:`\varepsilon`, then the number of right
        guesses from *one* synthetic file, about all canaries, is dominated by that of coins with
        the ceiling's chance (:class:`~discreet.audit.one_run.OneRunResult`), for any attack. To
        change a secret is two steps.

    Assumes:
        All rows are made up. The private rows come from the house's own synthesiser, behind the
        gate.
    """

    epsilon: Fraction = field(converter=exact)
    people: int = field(default=1000, converter=check.whole, validator=check.positive)
    canaries: int = field(default=100, converter=check.whole, validator=check.positive)
    shadows: int = field(default=4, converter=check.whole, validator=check.positive)

    def __attrs_post_init__(self) -> None:
        if self.epsilon <= 0 or self.canaries % 2 or self.canaries > _PLACES // 2:
            raise InvalidArgument(
                "This is no release to attack",
                must=f"have an epsilon above 0 and an even number of canaries to {_PLACES // 2}",
            )

    def draw_people(self, rng: Rng) -> IntArray:
        """Return people: none in a place of a canary, and with a secret that depends on it."""
        places = self.canaries + uniform_integers(_PLACES - self.canaries, self.people, rng)
        secrets = (places % 2).astype(np.bool_) ^ bernoulli(Fraction(1, 5), self.people, rng)
        return _rows_at(places, secrets)


def _rows_at(places: IntArray, secrets: NDArray[Any]) -> IntArray:
    columns = [places // SIZES[1], places % SIZES[1], secrets.astype(np.int64)]
    return np.stack(columns, axis=1).astype(np.int64)


def copy_rows(rows: IntArray, rng: Rng) -> IntArray:
    """Return four times as many rows, drawn with replacement: learnt by heart."""
    drawn: IntArray = rows[uniform_integers(len(rows), 4 * len(rows), rng)]
    return drawn


def change_a_cell(rows: IntArray, rng: Rng) -> IntArray:
    """Return copies of which a third has another first column: nearly by heart."""
    found = copy_rows(rows, rng)
    is_changed = bernoulli(Fraction(1, 3), len(found), rng)
    found[:, 0] = np.where(is_changed, uniform_integers(SIZES[0], len(found), rng), found[:, 0])
    return found


@frozen(kw_only=True)
class PrivateRows:
    """The house's synthesiser at a loss, with the table of all columns or with chosen pairs."""

    epsilon: Fraction
    is_whole: bool

    def __call__(self, rows: IntArray, rng: Rng) -> IntArray:
        """Publish synthetic rows of a project that is made for them, and forgotten."""
        table = dict(zip(COLUMNS, rows.T, strict=True)) | {"person": np.arange(len(rows))}
        keys = {
            name: {"type": "integer", "keys": list(range(size)), "nullable": False}
            for name, size in zip(COLUMNS, SIZES, strict=True)
        }
        with TemporaryDirectory(prefix="discreet-attack-") as folder:
            owner = own(
                {"people": optional.load("pyarrow").table(table)},
                unit="person",
                id_space=f"attacked {int(rng.words(1)[0]):016x}",
                budget={"epsilon": self.epsilon},
                columns={"people": {"person": "integer", **keys}},
                rows_per_unit=1,
                ledger=Path(folder) / "ledger",
            )
            with owner, owner.connect() as connection:
                tables = [list(COLUMNS)] if self.is_whole else None
                made = connection.synthesise("people", tables=tables, epsilon=self.epsilon)
                found = made.to_arrow()
        columns = [found[name].to_numpy().astype(np.int64) for name in COLUMNS]
        return np.stack(columns, axis=1)


def generators(epsilon: Fraction) -> dict[str, tuple[Generator, Fraction | None]]:
    """Return what is attacked by its name, with the loss that it has, if it has one."""
    return {
        "copied rows": (copy_rows, None),
        "copied, some cells changed": (change_a_cell, None),
        "private, the whole table": (PrivateRows(epsilon=epsilon, is_whole=True), epsilon),
        "private, chosen pairs": (PrivateRows(epsilon=epsilon, is_whole=False), epsilon),
    }


def _seen(synthetic: IntArray, canaries: IntArray) -> IntArray:
    """Return what a file shows of each canary: rows that are equal, alike, and nearly alike."""
    same = synthetic[:, None, :] == canaries[None, :, :]
    equal, place = same.all(axis=2), same[:, :, :2].all(axis=2)
    near = same[:, :, :2].any(axis=2)
    return np.stack([one.sum(axis=0) for one in (equal, place, near)], axis=1).astype(np.int64)


def infer_membership(
    attack: SyntheticAttack, rng: Rng, *, on_file: Callable[[], None] | None = None
) -> AttackReport:
    """Guess which canaries were among the rows, with a score that is learnt on shadow models.

    The adversary makes files of its own, from made-up people and canaries that it puts in by coins
    it knows, and learns what a file shows of a canary that was there [SSSS17].
    """
    canaries = _rows_at(np.arange(attack.canaries), np.ones(attack.canaries))

    def run(make: Generator) -> tuple[NDArray[np.bool_], IntArray]:
        included = bernoulli(Fraction(1, 2), attack.canaries, rng)
        rows = np.concatenate([attack.draw_people(rng), canaries[included]])
        seen = _seen(make(rows, rng), canaries)
        if on_file is not None:
            on_file()
        return included, seen

    attempts = []
    for release, (make, epsilon) in generators(attack.epsilon).items():
        shadows = [run(make) for _ in range(attack.shadows)]
        inside = [tuple(row) for was, seen in shadows for row in seen[was].tolist()]
        outside = [tuple(row) for was, seen in shadows for row in seen[~was].tolist()]
        score = learn_score(inside, outside) or _COUNTED_EXACTLY
        included, seen = run(make)
        told = score.scores([tuple(row) for row in seen.tolist()])
        found = audit_scores(included, told, rng=rng)
        ceiling = CERTAIN if epsilon is None else guess_ceiling(Pure(epsilon))
        record = GuessingRecord(right=found.right, trials=found.guesses, ceiling=ceiling)
        least = short(found.epsilon_lower, rounding=ROUND_FLOOR)
        note = f"one file shows ε of at least {least}, but for one time in a million."
        attempts.append(Attempt(release=release, record=record, note=note))
    return AttackReport(
        attack=f"Was a canary among the rows? Learnt on {attack.shadows} shadow models.",
        attempts=tuple(attempts),
    )


def infer_secrets(
    attack: SyntheticAttack, rng: Rng, *, on_file: Callable[[], None] | None = None
) -> AttackReport:
    """Train a model on synthetic rows, ask it for the secret of each canary, and count.

    The model says what most rows of the same place have, or, where there is none, most of the same
    first column. A model that was trained on copies repeats what it has read.
    """
    attempts = []
    for release, (make, epsilon) in generators(attack.epsilon).items():
        secrets = bernoulli(Fraction(1, 2), attack.canaries, rng)
        canaries = _rows_at(np.arange(attack.canaries), secrets)
        rows = make(np.concatenate([attack.draw_people(rng), canaries]), rng)
        if on_file is not None:
            on_file()
        right = int((_predict(rows, canaries, rng) == secrets).sum())
        ceiling = CERTAIN if epsilon is None else guess_ceiling(Pure(epsilon), steps=2)
        record = GuessingRecord(right=right, trials=attack.canaries, ceiling=ceiling)
        attempts.append(Attempt(release=release, record=record))
    return AttackReport(
        attack="What is a canary's secret? A model that was trained on the file is asked.",
        attempts=tuple(attempts),
    )


def _predict(rows: IntArray, asked: IntArray, rng: Rng) -> NDArray[np.bool_]:
    """Return what most rows of the same place say, or of the same first column, or a coin."""
    coins = bernoulli(Fraction(1, 2), len(asked), rng)
    votes = np.where(rows[:, 2] == 1, 1, -1)
    same = rows[:, None, :2] == asked[None, :, :2]
    at_place = (same.all(axis=2) * votes[:, None]).sum(axis=0)
    in_column = (same[:, :, 0] * votes[:, None]).sum(axis=0)
    told = np.where(at_place != 0, at_place, in_column)
    return np.where(told == 0, coins, told > 0)
