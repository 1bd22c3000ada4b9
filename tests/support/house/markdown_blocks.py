"""Fenced code blocks of a Markdown page, with the comment that stands right above each.

A comment steers what the tests do with the next block::

    <!-- file: discreet.toml -->     write the block to this file, in the page's folder
    <!-- exit: 2 -->                 the block's last command ends with this status
    <!-- skip: why -->               do not run the block; the reason is obligatory
"""

import re
from dataclasses import dataclass

COMMENT = re.compile(r"<!--\s*(file|exit|skip):?\s*(.*?)\s*-->")
FENCE = re.compile(r"(\s*)(`{3,})\s*([^`\s]*).*")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, its first line, and what steers it."""

    language: str
    text: str
    line: int
    verb: str = ""
    value: str = ""


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = iter(enumerate(page.splitlines(), start=1))
    verb = value = ""
    for number, line in lines:
        if comment := COMMENT.fullmatch(line.strip()):
            verb, value = comment.groups()
        elif fence := FENCE.fullmatch(line):
            indent, ticks, language = fence.groups()
            body = []
            for _, inner in lines:
                if inner.strip() == ticks:
                    break
                body.append(inner.removeprefix(indent))
            text = "".join(f"{inner}\n" for inner in body)
            found.append(Block(language, text, number + 1, verb, value))
            verb = value = ""
        elif line.strip():
            verb = value = ""
    return found
