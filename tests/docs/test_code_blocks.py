"""Every code block of the README and the site does what it shows."""

from pathlib import Path

import pytest

from tests.support.house.markdown_blocks import Block, blocks
from tests.support.house.page_runner import PageRunner
from tests.support.house.paths import DOCS, ROOT

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
MOST_SKIPS = 8


def place(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_page(page: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = PageRunner(place(page), tmp_path)
    for block in blocks(page.read_text()):
        runner.run(block)


def test_skips_are_few_and_have_reasons():
    skipped = [
        (place(page), block)
        for page in PAGES
        for block in blocks(page.read_text())
        if block.verb == "skip"
    ]
    assert all(block.value for _, block in skipped), "a skipped block needs a reason"
    assert len(skipped) <= MOST_SKIPS


# ---------------------------------------------------------------- the runner itself

PAGE = """\
Text.

<!-- file: data/numbers.csv -->
```csv
1,2
```

```python
from pathlib import Path
total = sum(map(int, Path("data/numbers.csv").read_text().split(",")))
```

```python
>>> total
3
>>> list(range(100))
[0, 1, ..., 99]
```

<!-- exit: 3 -->
```console
$ echo one two; echo noise
one ...
$ ls data
$ echo no >&2; \\
  exit 3
no
```

<!-- skip: it would take down the machine -->
```sh
exit 1
```

  ```sh
  test -f data/numbers.csv
  ```
"""


def test_good_page_runs(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = PageRunner("page.md", tmp_path)
    found = blocks(PAGE)
    assert [block.language for block in found] == ["csv", "python", "python", "console", "sh", "sh"]
    for block in found:
        runner.run(block)
    assert runner.namespace["total"] == 3


@pytest.mark.parametrize(
    "block",
    [
        Block("python", "1 / 0\n", 1),
        Block("python", ">>> 1 + 1\n3\n", 1),
        Block("console", "$ echo one\ntwo\n", 1),
        Block("console", "$ false\n", 1),
        Block("console", "$ true\n", 1, "exit", "1"),
        Block("console", "no prompt\n", 1),
        Block("sh", "false\ntrue\n", 1),
        Block("toml", "a = 1\n", 1, "file", "../outside.toml"),
    ],
    ids=str,
)
def test_bad_block_fails(block: Block, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        PageRunner("page.md", tmp_path).run(block)


def test_text_between_comment_and_block_breaks_the_link():
    (block,) = blocks("<!-- skip: why -->\nSome text.\n```sh\ntrue\n```\n")
    assert block.verb == ""
