"""Collect from people who trust nobody: declare a survey, plan it, serve it, see what came."""

import argparse
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from discreet.accounting.meaning import Meaning
from discreet.cli.command import CommandResult
from discreet.cli.first_survey import write_first_survey
from discreet.cli.survey_files import write_estimates, write_reports
from discreet.cli.terminal import flush_output, write
from discreet.core import optional
from discreet.core.contribution import Metric
from discreet.core.counted import counted
from discreet.core.errors import DeclarationError, InvalidArgument
from discreet.core.loss import Pure, short
from discreet.core.numbers import float_up
from discreet.core.terminal_text import lines, one_line
from discreet.local.survey.plan import PEOPLE, plan_survey
from discreet.local.survey.read_survey import FILE_NAME, read_survey
from discreet.local.survey.rehearse_survey import rehearse_survey
from discreet.local.survey.results import survey_results
from discreet.local.survey.survey import Survey
from discreet.local.survey.tallies import tally_pages
from discreet.randomness.rng import SystemRng
from discreet.server.collector.app import Collector
from discreet.server.collector.connections import ending
from discreet.server.collector.report_store import ReportStore

_BACKLOG = 2048
"""How many connections may wait to be accepted."""

_MADE_UP = "These people are made up: each answer is as likely as any other. Nothing was collected."


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the verbs: init, check, plan, rehearse, serve, results, close."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    _verb(verbs, "init", "write a first survey.toml, to be changed")
    _verb(verbs, "check", "check the declaration, and say what it means for a person")
    plan = _verb(verbs, "plan", "say how exact estimates will be, and how large reports are")
    plan.add_argument(
        "--people", action="append", type=int, metavar="N", help="for so many; several can be given"
    )
    rehearse = _verb(verbs, "rehearse", "show results of made-up people; nothing is collected")
    rehearse.add_argument("--people", type=int, default=1_000, metavar="N", help="(default: 1000)")
    serve = _verb(verbs, "serve", "receive reports over HTTP, until it is stopped")
    serve.add_argument("--host", default="127.0.0.1", metavar="HOST", help="(default: 127.0.0.1)")
    serve.add_argument("--port", default=8080, type=int, metavar="N", help="(default: 8080)")
    serve.add_argument(
        "--rate", default=2_000, type=int, metavar="N", help="most batches a second (default: 2000)"
    )
    results = _verb(verbs, "results", "estimate from the reports that have arrived")
    results.add_argument("--confidence", default="0.95", metavar="C", help="(default: 0.95)")
    results.add_argument(
        "--together", action="store_true", help="intervals of a question hold all at once"
    )
    results.add_argument("--plot", metavar="FILE", help="draw the estimates (.png, .svg or .pdf)")
    results.add_argument(
        "-o", "--output", metavar="FILE", help="write the estimates (.parquet, .csv or .json)"
    )
    results.add_argument(
        "--reports", metavar="FILE", help="write the reports, as they came (.parquet)"
    )
    close = _verb(verbs, "close", "take no more reports, for good")
    for sub in (serve, results, close):
        sub.add_argument(
            "--store", metavar="FILE", help="where reports are kept (default: beside the survey)"
        )


def _verb(verbs: Any, name: str, help_text: str) -> argparse.ArgumentParser:
    sub: argparse.ArgumentParser = verbs.add_parser(name, help=help_text, description=help_text)
    sub.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")
    sub.add_argument(
        "--survey", default=FILE_NAME, metavar="FILE", help=f"the survey (default: {FILE_NAME})"
    )
    return sub


def run(options: argparse.Namespace) -> CommandResult:
    """Do what was asked for."""
    if options.verb == "init":
        return CommandResult(write_first_survey(Path(options.survey)), {"file": options.survey})
    survey = read_survey(Path(options.survey))
    if options.verb == "check":
        return _checked(survey)
    if options.verb == "plan":
        planned = plan_survey(survey, options.people or PEOPLE)
        return CommandResult(str(planned), planned.to_json())
    if options.verb == "rehearse":
        found = rehearse_survey(survey, options.people, SystemRng())
        return CommandResult(f"{found}\n\n{lines(_MADE_UP)}", found.to_json())
    path = _store(options, survey)
    if options.verb != "serve":
        _require_served(path, Path(options.survey))
    store = ReportStore(path, survey)
    try:
        return _VERBS[options.verb](store, options)
    finally:
        store.close()


def _store(options: argparse.Namespace, survey: Survey) -> Path:
    """Return where the reports of this version are; each version has a file of its own."""
    beside = Path(options.survey).with_suffix("").name
    default = Path(options.survey).with_name(f"{beside}-{survey.version[:12]}.reports")
    return default if options.store is None else Path(options.store)


def _require_served(path: Path, survey: Path) -> None:
    """Refuse to begin a file of reports with anything but serving it."""
    if path.exists():
        return
    others = sorted(one.name for one in survey.parent.glob(f"{survey.stem}-*.reports"))
    raise DeclarationError(
        f"There are no reports at {path}",
        must="be the file that 'discreet survey serve' made for this very version of the survey",
        got=f"files of other versions: {', '.join(others)}" if others else "",
        next="Serve the survey first, or name its file with --store",
    )


def _checked(survey: Survey) -> CommandResult:
    report, person = survey.epsilon_of_report(), survey.epsilon_of_person()
    meaning = Meaning.of(Pure(person), metric=Metric.CHANGE_ONE)
    asked, sent = counted(len(survey.questions), "question"), counted(survey.size, "byte")
    said = [
        f"{survey.name}: {asked}, {sent} a report{_until(survey)}",
        f"one report: ε = {short(report)}",
        f"all reports of a device, at most {survey.reports:,}: ε = {short(person)}",
        meaning.sentence(),
        survey.kept_note(),
    ]
    facts = {
        "name": survey.name,
        "version": survey.version,
        "bytes": survey.size,
        "epsilon": float_up(report),
        "lifetime_epsilon": float_up(person),
        "meaning": meaning.to_json(),
    }
    return CommandResult("\n".join(lines(text) for text in said if text), facts)


def _until(survey: Survey) -> str:
    return "" if survey.until is None else f", until {survey.until} (UTC)"


def _serve(store: ReportStore, options: argparse.Namespace) -> CommandResult:
    if options.rate < 1:
        raise InvalidArgument("--rate is out of range", must="be above 0", got=str(options.rate))
    if not 0 < options.port < 1 << 16:
        raise InvalidArgument(
            "--port is out of range", must="lie between 1 and 65,535", got=str(options.port)
        )
    uvicorn = optional.load("uvicorn")
    doors = _doors(options.host, options.port)
    # A server that is told to end raises the signal again once it has; then the file is closed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    write(sys.stdout, f"http://{options.host}:{options.port}/ takes reports; Ctrl-C ends it")
    flush_output()
    settings = uvicorn.Config(
        Collector(store, rate=options.rate),
        http=ending(optional.load("uvicorn.protocols.http.auto").AutoHTTPProtocol),
        access_log=False,
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        ws="none",
        date_header=False,
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings).run(sockets=doors)
    return CommandResult("Stopped; what was acknowledged is kept.", {"stopped": True})


def _doors(host: str, port: int) -> list[socket.socket]:
    """Return where reports arrive, one for each address of the host, or say that it cannot be."""
    doors: list[socket.socket] = []
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for family, address in sorted({(one[0], one[4]) for one in found}):
            doors.append(socket.create_server(address, family=family, backlog=_BACKLOG))
    except (OSError, UnicodeError) as cause:
        for door in doors:
            door.close()
        raise DeclarationError(
            f"No reports can be taken at {one_line(host)}:{port}",
            got=getattr(cause, "strerror", None) or "no address",
            next="Choose another --port or --host, or end what uses it",
        ) from None
    return doors


def _results(store: ReportStore, options: argparse.Namespace) -> CommandResult:
    tally = tally_pages(store.survey, store.pages())
    if tally is None:
        return CommandResult("No reports have arrived yet.", {"people": 0, "rows": []})
    found = survey_results(tally, confidence=options.confidence, together=options.together)
    if options.plot:
        found.plot(Path(options.plot))
    if options.output:
        write_estimates(found, Path(options.output))
    if options.reports:
        write_reports(store.survey, store.pages(), Path(options.reports))
    state = "closed" if store.is_ended() else "open; more reports may come"
    return CommandResult(f"{found}\n\nThe survey is {state}.", found.to_json())


def _close(store: ReportStore, _: argparse.Namespace) -> CommandResult:
    store.end()
    return CommandResult("The survey is closed: no more reports are taken.", {"closed": True})


_VERBS = {"serve": _serve, "results": _results, "close": _close}
