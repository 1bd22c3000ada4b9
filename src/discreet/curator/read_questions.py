"""Read several questions that are asked together, and hold all of them to one size."""

from collections.abc import Sequence

from discreet.project.project import Project
from discreet.sql.parse import parse
from discreet.sql.question import Question, Size
from discreet.sql.resolve import resolve
from discreet.tables.functions.public_values import Enumeration


def read_questions(project: Project, queries: Sequence[str]) -> tuple[Question, ...]:
    """Return the questions that ``queries`` ask.

    Guarantee:
        They share what may be worked out for public keys, and the numbers that they ask for are
        counted together, one question after another: so many small ones are no more work before
        the gate than a large one.
    """
    enumeration, together = Enumeration(), Size()
    found = []
    for sql in queries:
        statement, public_rows = parse(sql), project.engine.public_rows
        question = resolve(statement, project.catalog, public_rows, enumeration)
        together = (together + Size.of(question)).require_small()
        found.append(question)
    return tuple(found)
