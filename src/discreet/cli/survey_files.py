"""Files of a survey: its estimates, and its reports as they came."""

import json
from collections.abc import Iterable
from pathlib import Path

from discreet.core import optional
from discreet.core.errors import InvalidArgument, OutputFailed
from discreet.local.report_numbers import Reports
from discreet.local.survey.results import SurveyResults
from discreet.local.survey.survey import Survey
from discreet.local.survey.tallies import split_reports


def write_estimates(results: SurveyResults, path: Path) -> None:
    """Write the estimates in the form that the ending of the file says."""
    try:
        if path.suffix == ".parquet":
            optional.load("pyarrow.parquet").write_table(results.to_arrow(), path)
        elif path.suffix == ".csv":
            optional.load("pyarrow.csv").write_csv(results.to_arrow(), path)
        elif path.suffix == ".json":
            path.write_text(json.dumps(results.to_json(), indent=2), encoding="utf-8")
        else:
            raise InvalidArgument(
                "The form of the file is not known",
                must="end in .parquet, .csv or .json",
                got=path.suffix or "no ending",
            )
    except OSError as cause:
        raise OutputFailed(f"{path.name} cannot be written", got=cause.strerror or "") from None


def write_reports(survey: Survey, pages: Iterable[Reports], path: Path) -> None:
    """Write the reports as Parquet: a column of bytes for each question, a page at a time."""
    if path.suffix != ".parquet":
        raise InvalidArgument(
            "The form of the file is not known",
            must="end in .parquet",
            got=path.suffix or "no ending",
        )
    arrow, parquet = optional.load("pyarrow"), optional.load("pyarrow.parquet")
    fields = [(question.name, arrow.binary(question.scheme.size)) for question in survey.questions]
    facts = {"discreet.survey": survey.name, "discreet.version": survey.version}
    schema = arrow.schema(fields, metadata=facts)
    try:
        with parquet.ParquetWriter(path, schema) as writer:
            for page in pages:
                columns = [
                    arrow.FixedSizeBinaryArray.from_buffers(
                        arrow.binary(part.shape[1]),
                        len(part),
                        [None, arrow.py_buffer(part.tobytes())],
                    )
                    for _, part in split_reports(survey, page)
                ]
                writer.write_table(arrow.table(columns, schema=schema))
    except OSError as cause:
        raise OutputFailed(f"{path.name} cannot be written", got=cause.strerror or "") from None
