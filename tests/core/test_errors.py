"""Errors: stable codes and whole sentences."""

import pytest

from discreet.core import errors, optional
from discreet.core.errors import AnswerFailed, DiscreetError, InvalidArgument, MissingDependency

# A code is part of the interface: programs match on it, so it never changes.
CODES = {
    "AnswerFailed": "answer_failed",
    "BadBatch": "bad_batch",
    "BadSyntax": "bad_syntax",
    "BelowLeastPrice": "below_least_price",
    "BudgetError": "budget_error",
    "BudgetExhausted": "budget_exhausted",
    "Busy": "busy",
    "CollectionError": "collection_error",
    "DeclarationError": "bad_declaration",
    "InvalidArgument": "invalid_argument",
    "LedgerError": "ledger_error",
    "MissingDependency": "missing_dependency",
    "MissingLoss": "missing_loss",
    "NoSuchNumber": "no_such_number",
    "NotKept": "not_kept",
    "NothingReleased": "nothing_released",
    "OtherVersion": "other_version",
    "OutputFailed": "output_failed",
    "QueryError": "query_error",
    "RefusedQuery": "refused_query",
    "SurveyClosed": "survey_closed",
    "Suspended": "suspended",
    "TooLarge": "too_large",
    "TooMany": "too_many",
    "UndeclaredBound": "undeclared_bound",
    "UndeclaredKeys": "undeclared_keys",
    "UnexpectedError": "internal_error",
    "UnknownColumn": "unknown_column",
    "UnknownTable": "unknown_table",
    "Unsupported": "unsupported",
    "WrittenBefore": "written_before",
}


def test_codes_are_pinned():
    found = {
        name: thing.code
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, DiscreetError)
    }
    found.pop("DiscreetError")
    assert found == CODES


def test_the_tree_in_the_docstring_is_the_tree():
    for name in CODES:
        assert name in (errors.__doc__ or "")


def test_sentences_and_json():
    error = InvalidArgument("scale is wrong", must="be above 0", got="-1", next="Use 1")
    assert str(error) == "scale is wrong. It must be above 0; got -1. Use 1."
    assert error.to_json() == {
        "error": {
            "code": "invalid_argument",
            "what": "scale is wrong",
            "must": "be above 0",
            "got": "-1",
            "next": "Use 1",
        }
    }


def test_after_the_gate_there_is_one_message():
    assert str(AnswerFailed()) == str(AnswerFailed())


def test_a_missing_library_says_how_to_get_it():
    with pytest.raises(MissingDependency, match="pip install 'no_such_library'"):
        optional.load("no_such_library.part")
