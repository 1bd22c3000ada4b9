"""Public files of a first declaration: apart from the private ones, and named as what they are."""

import os
from pathlib import Path

import pytest

from discreet.cli.commands.init import InitWishes, begin
from discreet.cli.init_replies import InitReplies
from discreet.core.errors import InvalidArgument

KNOWN = InitReplies(id_space="staff", unit="person", budget="epsilon = 1", rows_per_unit=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "staff.csv").write_text("person,pay\na,4711\nb,8150\n")
    (tmp_path / "offices.csv").write_text("office,desks\nnorth,40\nsouth,25\n")
    return tmp_path


def run(folder: Path, *private: str, public: tuple[str, ...] = (), ask=None):
    wishes = InitWishes(public=tuple(str(folder / name) for name in public))
    known = KNOWN if private else InitReplies()
    return begin([str(folder / name) for name in private], folder / "new", known, ask, wishes)


@pytest.mark.parametrize(
    ("private", "public"),
    [
        ("staff.csv", "staff.csv"),
        ("staff.csv", "hard.csv"),
        ("staff.csv", "soft.csv"),
        ("staff.csv", "s*.csv"),
        ("s*.csv", "hard.csv"),
        ("h*.csv", "st*.csv"),
    ],
)
def test_a_private_file_is_not_read_as_a_public_one(folder, monkeypatch, private, public):
    os.link(folder / "staff.csv", folder / "hard.csv")
    (folder / "soft.csv").symlink_to(folder / "staff.csv")

    def read(*_):
        raise AssertionError("a row was read")

    monkeypatch.setattr("discreet.cli.commands.init.looked_at", read)
    monkeypatch.setattr("discreet.cli.commands.init.public_ranges", read)
    with pytest.raises(InvalidArgument, match="is named as private and as public"):
        run(folder, private, public=("offices.csv", public))
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    ("private", "named"),
    [
        ((), "for offices, staff (public: everybody may know every row). It fits"),
        (("staff.csv",), "for staff (private) and offices (public: everybody may know every row)."),
    ],
)
def test_what_is_public_is_named_as_such(folder, private, named):
    public = ("offices.csv",) if private else ("offices.csv", "staff.csv")
    shown = run(folder, *private, public=public)
    assert named in " ".join(shown.text.split())
    assert shown.data["public"] == [name.removesuffix(".csv") for name in public]


def test_on_a_terminal_nothing_is_read_as_public_by_oversight(folder):
    asked = []

    def ask(question: str) -> str:
        asked.append(" ".join(question.split()))
        return "y" if len(asked) > 1 else ""

    with pytest.raises(InvalidArgument, match="Name the private files before --public"):
        run(folder, public=("offices.csv", "staff.csv"), ask=ask)
    assert "May everybody know every row of offices.csv, staff.csv?" in asked[0]
    assert not (folder / "new").exists()
    run(folder, public=("offices.csv",), ask=ask)
    assert (folder / "new" / "discreet.toml").exists()


def test_whose_row_it_is_is_said_of_private_files(folder):
    wishes = InitWishes(public=(str(folder / "offices.csv"), str(folder / "staff.csv")))
    with pytest.raises(InvalidArgument, match="no private file is named"):
        begin([], folder / "new", KNOWN, None, wishes)
    assert not (folder / "new").exists()
