"""Attacks on published rows: linking, matching, singling out, and baselines that fail."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from discreet.attacks.attack_picture import picture_bytes, uniqueness_picture
from discreet.attacks.records.anonymised_rows import AnonymisedRows, anonymise
from discreet.attacks.records.class_report import find_homogeneous, report_anonymity
from discreet.attacks.records.coded_rows import (
    CodedColumn,
    CodedRows,
    alike_columns,
    csv_bytes,
    read_rows,
)
from discreet.attacks.records.hierarchy import (
    Hierarchy,
    NumberIntervals,
    Prefixes,
    Suppression,
    Tree,
)
from discreet.attacks.records.intersection import intersect_releases
from discreet.attacks.records.linkage import link_rows
from discreet.attacks.records.mask_rows import (
    MaskedRows,
    collapse,
    inject_noise,
    sample_rows,
    swap_values,
    top_code,
    whole_values,
)
from discreet.attacks.records.outside_knowledge import know_more, rule_out
from discreet.attacks.records.sparse_match import (
    MatchScales,
    MatchVerdict,
    match_sparse,
    sparse_rows,
)
from discreet.attacks.records.uniqueness import find_unique
from discreet.attacks.records.unmask import link_nearest, score_links, undo_top_code
from discreet.cli.attack_verbs.attack_verb import (
    AttackVerb,
    Told,
    add_plot,
    check_new,
    named,
    read_json,
    wrapped,
    write_private,
)
from discreet.cli.progress import progress_bar
from discreet.core import check
from discreet.core.errors import InvalidArgument
from discreet.core.terminal_text import text_table
from discreet.randomness.rng import SystemRng


def _add_linkage(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("released", help="the published rows: CSV or Parquet")
    one("public", help="a list that anybody can get: CSV or Parquet")
    one("--on", required=True, metavar="A,B", help="the columns that both have")


def _linkage(options: argparse.Namespace) -> Told:
    released, public = read_rows(Path(options.released)), read_rows(Path(options.public))
    found = link_rows(released, public, on=named(options.on))
    return wrapped(str(found)), found.to_json()


def _add_uniqueness(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("rows", help="the rows: CSV or Parquet")
    one(
        "--columns",
        action="append",
        metavar="A,B",
        help="the columns that are searched (default: all)",
    )
    one("--most", default="3", metavar="N", help="at most so many columns in a set (default: 3)")
    one("--sensitive", metavar="C", help="a column that nobody shall learn: says what classes tell")
    add_plot(parser)


def _uniqueness(options: argparse.Namespace) -> Told:
    rows = read_rows(Path(options.rows))
    names = list(rows.columns) if options.columns is None else named(",".join(options.columns))
    names = [name for name in names if name != options.sensitive]
    report = find_unique(
        rows,
        columns=names,
        most=check.at_least_one(options.most, "most"),
        on_step=progress_bar("sets of columns"),
    )
    parts = [str(report)]
    data: dict[str, Any] = {"sets": report.to_json()}
    if options.sensitive is not None:
        known = {"quasi": names, "sensitive": options.sensitive}
        classes = report_anonymity(rows, **known)
        alike = find_homogeneous(rows, **known)
        parts += [str(classes), wrapped(str(alike))]
        data |= {"classes": classes.to_json(), "homogeneous": alike.to_json()}
    if options.plot is not None:
        path = Path(options.plot)
        write_private(path, picture_bytes(uniqueness_picture(report), path))
        parts.append(f"Drew {options.plot}, which only you can read")
    return "\n\n".join(parts), data


def _add_match(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("released", help="what people did, a line for each: CSV or Parquet")
    one("known", help="what is known of some of them, in the same form")
    one("--person", required=True, metavar="C", help="who, in the released lines")
    one("--name", metavar="C", help="who, in the known lines (default: as --person)")
    one("--item", required=True, metavar="C", help="with what: a film, a shop, a word")
    one("--value", metavar="C", help="how: a rating, an amount")
    one("--date", metavar="C", help="when: a date, or a number of days")
    one("--rating-scale", default="1.5", metavar="R", help="how far values may be off")
    one("--date-scale", default="30", metavar="D", help="how many days dates may be off")
    one("--eccentricity", default="1.5", metavar="F", help="how far the best must stand out")


def _match(options: argparse.Namespace) -> Told:
    columns = {"item": options.item, "value": options.value, "date": options.date}
    tables = [read_rows(Path(path)) for path in (options.released, options.known)]
    there, told_of = alike_columns(tables, [options.item])
    released = sparse_rows(there, person=options.person, **columns)
    name = options.person if options.name is None else options.name
    known = sparse_rows(told_of, person=name, **columns)
    found = match_sparse(
        released,
        known,
        scales=MatchScales(
            rating=options.rating_scale,
            days=options.date_scale,
            eccentricity=options.eccentricity,
        ),
        on_step=progress_bar("people"),
    )
    matched = sum(one.verdict is MatchVerdict.MATCHED for one in found)
    told = (
        f"{matched:,} of {len(found):,} people are found among {len(released.people):,} published "
        f"ones; of {len(found) - matched:,} it cannot be told."
    )
    table = text_table(
        ["person", "verdict", "eccentricity", "agree", "by chance", "strangers"],
        [
            [
                str(place),
                one.verdict.value,
                f"{one.eccentricity:.2f}",
                f"{one.agreeing}/{one.known}",
                f"{one.by_chance:.2g}",
                f"{one.strangers}/{one.tried}" if one.tried else "",
            ]
            for place, one in enumerate(found[:20])
        ],
    )
    return f"{wrapped(told)}\n\n{table}", [one.to_json() for one in found]


def _tree(column: CodedColumn, parents: Any) -> Tree:
    """Return a tree from JSON, whose names are all texts: of whole numbers too, then."""
    if not isinstance(parents, dict) or not all(isinstance(one, str) for one in parents.values()):
        raise InvalidArgument("That is no tree", must='say each parent, as {"nurse": "health"}')
    numbers = {
        value: parents[str(value)]
        for value in column.values
        if isinstance(value, int) and str(value) in parents
    }
    texts = {text: it for text, it in parents.items() if text not in set(map(str, numbers))}
    return Tree(parents={**numbers, **texts})


def _hierarchy(rows: CodedRows, text: str) -> tuple[str, Hierarchy]:
    """Return a column and how it is generalised: NAME, or NAME:RULE."""
    name, _, rule = text.partition(":")
    column = rows.column(name)
    if not rule:
        return name, Suppression()
    if rule == "prefix":
        longest = max((len(str(one)) for one in column.values if one is not None), default=1)
        return name, Prefixes(length=max(1, longest))
    if rule.endswith(".json"):
        return name, _tree(column, read_json(rule))
    return name, NumberIntervals(widths=named(rule))


def _add_anonymise(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("rows", help="the rows: CSV or Parquet")
    one("--k", required=True, metavar="K", help="how many rows must agree")
    one(
        "--quasi",
        required=True,
        action="append",
        metavar="C[:RULE]",
        help="a quasi-identifier and how it is made less precise: prefix, widths such as 5,10, or "
        "a file of JSON with the parent of each value; without a rule it is kept or goes",
    )
    one("--sensitive", required=True, metavar="C", help="the column that nobody shall learn")
    one("--drop", default="0.05", metavar="S", help="the share of rows that may go (default: 0.05)")
    one("--release", metavar="FILE", help="write the anonymous rows into a new file of CSV")
    one("--again", metavar="FILE", help="other rows about some of the same people, made alike")
    one("--person", metavar="C", help="who, in both: the column that is never published")


def _made(options: argparse.Namespace, rows: CodedRows) -> AnonymisedRows:
    kept = {name: one for name, one in rows.columns.items() if name != options.person}
    published = CodedRows(columns=kept, rows=rows.rows)
    names = [text.partition(":")[0] for text in options.quasi]
    if len(set(names)) < len(names):
        raise InvalidArgument(
            "A column has two rules", must="stand once", got=", ".join(sorted(names))
        )
    return anonymise(
        published,
        quasi=dict(_hierarchy(published, text) for text in options.quasi),
        k=check.at_least_one(options.k, "k"),
        most_dropped=options.drop,
        on_step=progress_bar("combinations"),
    )


def _tables(options: argparse.Namespace) -> list[CodedRows]:
    """Return the rows, and the other rows if there are some, with columns that compare."""
    paths = [options.rows, *([] if options.again is None else [options.again])]
    if len(paths) > 1 and options.person is None:
        raise InvalidArgument("Who is in both is not said", must="have --person")
    quasi = [text.partition(":")[0] for text in options.quasi]
    shared = [*quasi, options.sensitive, *([options.person] if len(paths) > 1 else [])]
    return alike_columns([read_rows(Path(path)) for path in paths], shared)


def _anonymise(options: argparse.Namespace) -> Told:
    if options.release is not None:
        check_new(Path(options.release))
    rows, *others = _tables(options)
    made = _made(options, rows)
    known: dict[str, Any] = {"quasi": list(made.quasi), "sensitive": options.sensitive}
    if made.rows.rows == 0:
        raise InvalidArgument("No row is left", next="Choose a smaller k, or drop fewer rows")
    alike, facts = find_homogeneous(made.rows, **known), rule_out(made.rows, **known)
    more = know_more(made.rows, **known)
    parts = [wrapped(str(made)), str(report_anonymity(made.rows, **known)), wrapped(str(alike))]
    parts += [str(facts), str(more)]
    data: dict[str, Any] = {
        "made": made.to_json(),
        "homogeneous": alike.to_json(),
        "ruled_out": facts.to_json(),
        "known_too": more.to_json(),
    }
    for other in others:
        both = _in_both(rows, other, options.person)
        found = intersect_releases([made, _made(options, other)], both, sensitive=options.sensitive)
        parts.append(wrapped(str(found)))
        data["intersection"] = found.to_json()
    if options.release is not None:
        write_private(Path(options.release), csv_bytes(made.rows))
        parts.append(f"Wrote {options.release}, which only you can read")
    return "\n\n".join(parts), data


def _in_both(rows: CodedRows, other: CodedRows, person: str) -> CodedRows:
    theirs = set(other.column(person).values) - {None}
    column = rows.column(person)
    is_there = np.array([one in theirs for one in column.values], dtype=np.bool_)
    places = np.flatnonzero(is_there[column.codes])
    if places.size == 0:
        raise InvalidArgument("Nobody is in both", must="share some people", got=person)
    return rows.take(places)


def _add_mask(parser: argparse.ArgumentParser) -> None:
    one = parser.add_argument
    one("rows", help="the rows: CSV or Parquet")
    one("--method", required=True, choices=list(_MASKS), help="how rows are masked")
    one("--on", required=True, metavar="A,B", help="the columns that the adversary knows")
    one("--columns", metavar="A,B", help="the columns that are masked (default: those of --on)")
    one("--amount", required=True, metavar="X", help="a cap, scale, share or width")
    one("--high", metavar="H", help="top-coding: the most a value can be; its true total is known")
    one("--release", metavar="FILE", help="write the masked rows into a new file of CSV")


def _masked(rows: CodedRows, method: str, columns: list[str], amount: str) -> MaskedRows:
    match method:
        case "noise":
            return inject_noise(rows, columns=columns, scale=amount, rng=SystemRng())
        case "swapping":
            return swap_values(rows, columns=columns, share=amount, rng=SystemRng())
        case "sampling":
            return sample_rows(rows, share=amount, rng=SystemRng())
    made = MaskedRows(rows=rows, source=np.arange(rows.rows, dtype=np.int64))
    for name in columns:
        if method == "top-coding":
            made = top_code(made.rows, column=name, cap=check.whole(amount))
        else:
            made = collapse(made.rows, column=name, hierarchy=NumberIntervals(widths=[amount]))
    return made


_MASKS = ("top-coding", "noise", "swapping", "sampling", "collapsing")


def _mask(options: argparse.Namespace) -> Told:
    if options.release is not None:
        check_new(Path(options.release))
    rows, on = read_rows(Path(options.rows)), named(options.on)
    columns = on if options.columns is None else named(options.columns)
    masked = _masked(rows, options.method, columns, options.amount)
    plain = link_rows(rows, rows, on=on)
    if options.method == "noise":
        found = link_nearest(masked.rows, rows, on=on)
    elif options.method in ("top-coding", "collapsing"):
        # The adversary knows the cap and the widths, and masks the list alike.
        found = link_rows(masked.rows, masked.rows, on=on)
    else:
        found = link_rows(masked.rows, rows, on=on)
    scored = score_links(found, masked)
    told = f"Without a mask {plain.released.size:,} of {rows.rows:,} rows are linked. {scored}"
    data: dict[str, Any] = {"plain": int(plain.released.size), "masked": scored.to_json()}
    if options.high is not None:
        said, data["uncapped"] = _uncapped(rows, columns, options)
        told += f"\n\n{said}"
    if options.release is not None:
        write_private(Path(options.release), csv_bytes(masked.rows))
        told += f"\n\nWrote {options.release}, which only you can read"
    return wrapped(told), data


def _uncapped(
    rows: CodedRows, columns: list[str], options: argparse.Namespace
) -> tuple[str, dict[str, list[float] | None]]:
    """Say what a cap hides where the true total of a column is printed too."""
    if options.method != "top-coding":
        raise InvalidArgument("Only top-coding has a cap", must="have no --high")
    parts: list[str] = []
    found: dict[str, list[float] | None] = {}
    for name in columns:
        values = whole_values(rows, name)
        known = [value for value in values if value is not None]
        ends = undo_top_code(
            values, cap=check.whole(options.amount), total=sum(known), high=options.high
        )
        found[name] = None if ends is None else [float(end) for end in ends]
        if ends is None:
            parts.append(f"No value of {name} is at the cap.")
            continue
        shown = " to ".join(f"{float(end):,g}" for end in dict.fromkeys(ends))
        told = f"each value at the cap is {'' if len(set(ends)) == 1 else 'from '}{shown}"
        parts.append(f"If the true total of {name} is printed too, {told}.")
    return " ".join(parts), found


ROW_ATTACKS = (
    AttackVerb("linkage", "join published rows with a public list", _add_linkage, _linkage),
    AttackVerb("match", "find people in sparse rows by a little that is known", _add_match, _match),
    AttackVerb("uniqueness", "say which columns single people out", _add_uniqueness, _uniqueness),
    AttackVerb(
        "anonymise", "make rows k-anonymous, and give them away", _add_anonymise, _anonymise
    ),
    AttackVerb("mask", "mask rows in a classical way, and unmask them", _add_mask, _mask),
)
