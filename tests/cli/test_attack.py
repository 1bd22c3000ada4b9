"""The attacks as commands: what they find, how it is marked, and what they cannot read."""

import json
import stat
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from discreet.attacks.reconstruction.printed_counts import read_counts
from discreet.cli.main import main
from discreet.core.errors import InvalidArgument


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(
        "zip,born,ill\n1,1950,yes\n1,1951,no\n1,1952,no\n2,1950,yes\n2,1950,yes\n"
    )
    (tmp_path / "voters.csv").write_text("zip,born,name\n1,1950,Ann\n2,1950,Bo\n9,1950,Cy\n")

    def call(*arguments: str, status: int = 0) -> str:
        assert main(["attack", *arguments]) == status
        shown = capsys.readouterr()
        return shown.out if status == 0 else shown.out + shown.err

    return call


BIT = ("--column", "ill", "--equals", "yes")


def test_difference(run):
    told = run("difference", "rows.csv", *BIT, "--row", "0", "--trials", "200")
    assert told.startswith("PRIVATE")
    assert "The person has the bit" in told
    found = json.loads(
        run("difference", "rows.csv", *BIT, "--row", "1", "--trials", "50", "--json")
    )["found"]
    assert found["exact"]["guess"] is False
    assert found["private"]["trials"] == 50
    assert found["private"]["ceiling"] == pytest.approx(0.7310585786)
    run("difference", "rows.csv", *BIT, "--row", "1", "--trials", "50", "-o", "found.json")
    run("report", "found.json", "-o", "page.html")
    assert "1 attack on this page, with 1 attempt at" in Path("page.html").read_text()


def test_reconstruct(run):
    people, bits = 5, np.array([1, 0, 0, 1, 1])
    sets = [[place for place in range(people) if code >> place & 1] for code in range(32)]
    counts = [{"of": members, "count": int(bits[members].sum())} for members in sets]
    counts[3]["count"] = None
    Path("counts.json").write_text(json.dumps({"people": people, "counts": counts}))
    for method in ("squares", "linear"):
        told = json.loads(run("reconstruct", "counts.json", "--method", method, "--json"))
        assert told["found"]["bits"] == bits.tolist()
    told = run("reconstruct", "counts.json", "--truth", "rows.csv", *BIT)
    assert "right for 100.0%" in told
    assert "--truth" in run("reconstruct", "counts.json")
    run("reconstruct", "counts.json", "--truth", "rows.csv", status=2)


def test_census(run):
    table = {
        "columns": {"sex": ["F", "M"]},
        "ages": [0, 125],
        "statistics": [
            {"name": "all", "count": 2, "mean": "31.0"},
            {"name": "men", "where": {"sex": "M"}, "count": 1, "median": 40},
        ],
    }
    Path("table.json").write_text(json.dumps(table))
    found = json.loads(run("census", "table.json", "--json"))["found"]
    assert found["verdict"] == "unique"
    assert found["people"] == [{"age": 22, "sex": "F"}, {"age": 40, "sex": "M"}]
    assert "Exactly these people" in run("census", "table.json")


def test_linkage_names_nobody_on_the_screen_and_all_in_the_file(run):
    told = run("linkage", "rows.csv", "voters.csv", "--on", "zip,born", "-o", "found.json")
    assert "1 of 5 published rows" in told
    assert "Ann" not in told
    report = Path("found.json")
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    written = json.loads(report.read_text())
    assert written["private"].startswith("PRIVATE")
    assert written["found"]["linked"] == [{"released_row": 0, "public_row": 0}]
    told = run("linkage", "rows.csv", "voters.csv", "--on", "zip", "-o", "found.json", status=2)
    assert "must be a new file" in told


def test_uniqueness(run):
    found = json.loads(run("uniqueness", "rows.csv", "--sensitive", "ill", "--json"))["found"]
    assert found["sets"][0] == {
        "columns": ["zip", "born"],
        "unique": 3,
        "rows": 5,
        "smallest_class": 1,
    }
    assert found["classes"]["k"] == 1
    assert found["homogeneous"]["exposed"] == 5
    told = run("uniqueness", "rows.csv", "--columns", "zip", "--sensitive", "ill")
    assert "k = 2" in told
    assert "2 of 5 rows" in told
    assert "rows alone" in run("uniqueness", "rows.csv", "--most", "1")
    both = run("uniqueness", "rows.csv", "--columns", "zip", "--columns", "ill")
    assert both == run("uniqueness", "rows.csv", "--columns", "zip,ill")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["difference", "rows.csv", *BIT, "--row", "9"], "no such row"),
        (["difference", "rows.csv", *BIT, "--row", "0", "--epsilon", "0"], "out of range"),
        (["difference", "rows.csv", "--column", "ill", "--equals", "x", "--row", "0"], "No row"),
        (["difference", "rows.csv", "--column", "il", "--equals", "x", "--row", "0"], "no column"),
        (["reconstruct", "rows.csv"], "must be a file of JSON"),
        (["census", "missing.json"], "must be a file of JSON"),
        (["linkage", "rows.csv", "missing.csv", "--on", "zip"], "cannot be read"),
        (["linkage", "rows.csv", "voters.csv", "--on", ","], "nothing to join on"),
        (["uniqueness", "rows.csv", "--most", "0"], "at least 1"),
        (["uniqueness", "rows.csv", "--columns", ","], "no columns to search"),
    ],
)
def test_bad_input_is_refused(run, arguments, message):
    told = " ".join(run(*arguments, status=2).split())
    assert message in told


@pytest.mark.parametrize(
    "written",
    [
        None,
        [],
        {"people": 2},
        {"people": 0, "counts": []},
        {"people": 2, "counts": []},
        {"people": 2, "counts": [{"of": [2], "count": 1}]},
        {"people": 2, "counts": [{"of": [-1], "count": 1}]},
        {"people": 2, "counts": [{"of": [0.5], "count": 1}]},
        {"people": 2, "counts": [{"of": [0], "count": "x"}]},
        {"people": 2, "counts": [{"of": 0, "count": 1}]},
        {"people": 10**12, "counts": [{"of": [0], "count": 1}]},
        {"people": 2, "counts": [{"of": [0], "count": 1}], "refused": 1},
        {"people": 2, "counts": [{"of": [0], "count": 1, "eror": 1}]},
    ],
)
def test_bad_counts_are_refused(written):
    with pytest.raises(InvalidArgument):
        read_counts(written)


# ---- Rules that are got round, and other answers.


@pytest.mark.parametrize("rule", ["none", "sizes", "overlaps", "groups", "small", "memory"])
@pytest.mark.parametrize("row", ["0", "1"])
def test_every_rule_is_got_round(run, rule, row):
    """Of 2,000 pairs with noise of variance 16 the mean is off by 1/2 once in 10**7."""
    Path("many.csv").write_text("\n".join(["ill", *(["yes", "no", "no"] * 14)]) + "\n")
    told = run(
        *("difference", "many.csv", *BIT, "--row", row, "--trials", "5", "--json"),
        *("--rule", rule, "--least", "3", "--times", "2000" if rule == "memory" else "1"),
    )
    found = json.loads(told)["found"]
    assert found["rule"] == rule
    assert found["exact"]["guess"] is (row == "0")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("groups", "who attacks knows the others of one): The person has the bit ("),
        ("small", "who attacks knows who else has it): The person has the bit ("),
        ("overlaps", "share two people or more): The person has the bit: the differences are 1"),
    ],
)
def test_what_an_attack_rests_on_is_said(run, rule, said):
    Path("many.csv").write_text("\n".join(["ill", *(["yes", "no", "no"] * 14)]) + "\n")
    asked = ("difference", "many.csv", *BIT, "--row", "0", "--trials", "5", "--rule", rule)
    assert said in " ".join(run(*asked).split())


def test_a_tracker_that_is_refused_recovers_nothing(run):
    Path("few.csv").write_text("ill\n" + "yes\nno\n" * 4)
    asked = ("difference", "few.csv", *BIT, "--row", "0", "--trials", "5", "--rule", "sizes")
    told = " ".join(run(*asked, "--least", "4").split())
    assert "Nothing was recovered: answers that it takes were refused. (4 queries, 1" in told


def test_sets_that_are_not_shown_are_counted(run):
    names = [f"c{number}" for number in range(6)]
    Path("wide.csv").write_text(",".join(names) + "\n" + ",".join("123456") + "\n")
    assert "21 more sets" in run("uniqueness", "wide.csv")
    assert "more sets" not in run("uniqueness", "wide.csv", "--most", "1")


def test_a_column_with_two_rules_is_refused(run):
    Path("aged.csv").write_text("\n".join(["age,ill", *(f"{one},flu" for one in range(20))]) + "\n")
    asked = ("anonymise", "aged.csv", "--k", "2", "--sensitive", "ill", "--quasi", "age:5")
    assert "two rules" in run(*asked, "--quasi", "age:10", status=2)


def test_a_guess_from_noise_says_whether_it_is_right(run):
    Path("many.csv").write_text("\n".join(["ill", *(["yes", "no", "no"] * 14)]) + "\n")
    asked = ("difference", "many.csv", *BIT, "--row", "0", "--trials", "5", "--rule", "memory")
    told = " ".join(run(*asked).split())
    is_right = "The person has the bit" in told
    assert f"a guess that is {'right' if is_right else 'wrong'}: The person" in told
    assert "too many queries" in run(*asked, "--times", "100000000", status=2)


def test_frontier(run):
    told = run("frontier", "--people", "60", "--noise", "0.05,4", "--plot", "frontier.png")
    assert "480 counts" in told
    assert stat.S_IMODE(Path("frontier.png").stat().st_mode) == 0o600
    found = json.loads(run("frontier", "--people", "60", "--noise", "0", "--json"))["found"]
    assert found["points"][0]["found"] == 1


def test_sums(run):
    Path("sums.csv").write_text("people,total\n2,240\n3,100\n,5\n0,0\n")
    names = ("--people", "people", "--total", "total", "--low", "0", "--high", "120")
    told = run("sums", "sums.csv", *names)
    assert "In 1 of 2 groups" in told
    found = json.loads(run("sums", "sums.csv", *names, "--json"))["found"]
    assert found[0] == {"group": 0, "least": 120.0, "most": 120.0}


def test_digits(run):
    found = json.loads(run("digits", "83/81", "--people", "3", "--json"))["found"]
    assert found == [{"value": 0, "people": 1}, {"value": 4, "people": 2}]
    assert "Cannot tell" in run("digits", "0.51", "--people", "3")


def test_population(run):
    assert "from the data of others alone" in run("population", "--trials", "50")


# ---- Rows.


def test_match(run):
    lines = ["who,film,mark,day"]
    lines += [f"7,{film},{film % 5},2026-01-{film + 10}" for film in range(8)]
    lines += [f"{who},{who % 3},3,2026-03-01" for who in range(20, 60)]
    Path("rated.csv").write_text("\n".join(lines) + "\n")
    told = [f"Ann,{film},{film % 5},2026-01-{film + 11}" for film in range(6)]
    told += ["Bo,1,3,2026-03-02", "Bo,99,3,2026-03-02"]
    Path("told.csv").write_text("\n".join(["name,film,mark,day", *told]) + "\n")
    names = ("--person", "who", "--name", "name", "--item", "film", "--value", "mark")
    shown = run("match", "rated.csv", "told.csv", *names, "--date", "day", "-o", "match.json")
    assert "1 of 2 people are found among 41" in shown
    assert "Ann" not in shown
    found = json.loads(Path("match.json").read_text())["found"]
    assert [(one["known_as"], one["published_as"]) for one in found] == [("Ann", 7), ("Bo", None)]


def hospital(first: int, ills: str) -> str:
    lines = [
        f"{first + n},1011{n % 8},{1950 + n % 10},{job},{ill}"
        for n, (ill, job) in enumerate(zip(ills, ("nurse", "clerk") * 12, strict=False))
    ]
    return "\n".join(["id,zip,born,job,ill", *lines]) + "\n"


def test_anonymise(run):
    Path("one.csv").write_text(hospital(0, "aabbccddeeffgghhiijjkkll"))
    Path("two.csv").write_text(hospital(12, "gghhiijjkkllmmnnooppqqrr"))
    Path("jobs.json").write_text('{"nurse": "health", "clerk": "office"}')
    quasi = ("--quasi", "zip:prefix", "--quasi", "born:5,10", "--quasi", "job:jobs.json")
    common = ("--k", "3", *quasi, "--sensitive", "ill", "--person", "id")
    told = run("anonymise", "one.csv", *common, "--release", "anon.csv", "--again", "two.csv")
    assert "3-anonymous" in told
    assert "together" in told
    assert "values ruled out" in told
    assert "id" not in Path("anon.csv").read_text().splitlines()[0]
    assert stat.S_IMODE(Path("anon.csv").stat().st_mode) == 0o600
    found = json.loads(run("anonymise", "one.csv", *common, "--json"))["found"]
    assert found["made"]["k"] == 3
    assert found["ruled_out"]["exposed"][0] == found["homogeneous"]["exposed"]
    told = run("uniqueness", "anon.csv", "--sensitive", "ill")
    assert "k = 3" in told or "k = " in told


@pytest.mark.parametrize(
    ("method", "amount", "columns"),
    [
        ("top-coding", "1951", "born"),
        ("noise", "2", "born"),
        ("swapping", "0.5", "zip"),
        ("sampling", "0.999", "zip"),
        ("collapsing", "2", "born"),
    ],
)
def test_mask(run, method, amount, columns):
    told = run(
        *("mask", "rows.csv", "--method", method, "--amount", amount, "--on", "zip,born"),
        *("--columns", columns, "--release", "masked.csv", "--json"),
    )
    found = json.loads(told)["found"]
    assert found["plain"] == 3
    assert found["masked"]["right"] <= found["masked"]["linked"] <= 5
    assert Path("masked.csv").read_text().startswith('"zip","born","ill"')


def test_cells(run):
    Path("cells.csv").write_text(
        ",x,y,z,total\na,2,30,40,72\nb,50,60,70,180\nc,20,80,90,190\ntotal,72,170,200,442\n"
    )
    told = run("cells", "cells.csv", "--below", "5")
    assert "1 of 1 withheld cells are known exactly" in told
    made = json.loads(run("cells", "cells.csv", "--below", "5", "--more", "--json"))["found"]
    assert len(made["ranges"]) == 4
    assert all(one["most"] - one["least"] >= 4 for one in made["ranges"])
    told = run("cells", "cells.csv", "--below", "5", "--more", "--known", "c,y=80")
    assert "3 of 3 withheld cells are known exactly" in told


def test_uniqueness_is_drawn(run):
    told = run("uniqueness", "rows.csv", "--plot", "alone.svg")
    assert "Drew alone.svg" in told
    assert stat.S_IMODE(Path("alone.svg").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cells", "rows.csv"], "cannot be read"),
        (["cells", "missing.csv"], "cannot be read"),
        (["cells", "rows.csv", "--more"], "--below"),
        (["match", "rows.csv", "rows.csv", "--person", "zip", "--item", "x"], "no column x"),
        (["mask", "rows.csv", "--method", "noise", "--amount", "x", "--on", "zip"], "number"),
        (["mask", "rows.csv", "--method", "noise", "--amount", "1", "--on", "ill"], "integers"),
        (["anonymise", "rows.csv", "--k", "9", "--quasi", "zip", "--sensitive", "ill"], "too few"),
        (["anonymise", "rows.csv", "--k", "2", "--quasi", "z", "--sensitive", "ill"], "no column"),
        (
            [
                "anonymise",
                "rows.csv",
                "--k=2",
                "--quasi=zip",
                "--sensitive=ill",
                "--again=rows.csv",
            ],
            "--person",
        ),
        (["frontier", "--people", "10", "--queries", "5"], "more queries"),
        (["sums", "rows.csv", "--people=zip", "--total=ill", "--low=0", "--high=9"], "numbers of"),
        (["uniqueness", "rows.csv", "--plot", "x.gif"], "picture"),
        (["difference", "rows.csv", *BIT, "--row", "0", "--rule", "small", "--least", "9"], "few"),
        (["difference", "rows.csv", *BIT, "--row=0", "--rule=memory", "--times=99"], "many"),
    ],
)
def test_bad_input_of_rows_and_tables_is_refused(run, arguments, message):
    assert message in " ".join(run(*arguments, status=2).split())


def test_a_tree_of_json_is_for_numbers_and_texts(run):
    Path("tree.json").write_text(json.dumps({"1": "north", "2": "north"}))
    quasi = ("--k", "5", "--quasi", "zip:tree.json", "--sensitive", "ill")
    made = json.loads(run("anonymise", "rows.csv", *quasi, "--json"))["found"]["made"]
    assert made["steps"] == {"zip": 1}
    for bad in ([1, 2], {"1": ["north"]}, 5):
        Path("tree.json").write_text(json.dumps(bad))
        assert "no tree" in run("anonymise", "rows.csv", *quasi, status=2)


def test_what_stands_in_a_file_is_not_in_a_message(run):
    Path("pay.csv").write_text("zip,pay\n1,30\n2,90210\n")
    mask = ("mask", "pay.csv", "--method", "top-coding", "--amount", "50", "--columns", "pay")
    Path("sums.csv").write_text("people,total\n2,90210\n")
    sums = ("sums", "sums.csv", "--people", "people", "--total", "total", "--low", "0")
    Path("cells.csv").write_text(",a,total\nx,90210.5,1\ntotal,1,1\n")
    member = {"people": 2, "counts": [{"of": ["x90210"], "count": 1}]}
    Path("counts.json").write_text(json.dumps(member))
    totals = {"rows": 2, "totals": [{"of": [0, 1], "total": 1}], "known": {"0": "x90210"}}
    Path("totals.json").write_text(json.dumps(totals))
    for asked in (
        (*mask, "--on", "zip", "--high", "60"),
        (*sums, "--high", "9"),
        ("cells", "cells.csv"),
        ("reconstruct", "counts.json"),
        ("exact", "totals.json"),
    ):
        assert "90210" not in run(*asked, status=2)


def test_decimals_lie_in_intervals(run):
    pay = [Decimal("1.50"), Decimal("1.75"), Decimal("7.25")]
    columns = {"pay": pyarrow.array(pay), "ill": ["a", "b", "c"]}
    parquet.write_table(pyarrow.table(columns), "pay.parquet")
    asked = ("--quasi", "pay:2", "--sensitive", "ill", "--drop", "0.4", "--json")
    made = json.loads(run("anonymise", "pay.parquet", "--k", "2", *asked))["found"]["made"]
    assert made["steps"] == {"pay": 1}


def test_who_has_no_value_does_not_have_the_bit(run):
    Path("gaps.csv").write_text("ill,zip\nNone,1\n,2\nyes,3\n")
    bit = ("--column", "ill", "--equals", "None", "--trials", "1", "--json")
    for row, has_bit in (("0", True), ("1", False)):
        found = json.loads(run("difference", "gaps.csv", *bit, "--row", row))["found"]
        assert found["exact"]["guess"] is has_bit


def test_zip_codes_keep_their_zeros_in_every_file(run):
    Path("known.csv").write_text("zip,born,name\n01,1951,Ann\n1,1951,Bo\n")
    assert "1 of 5 published rows" in run("linkage", "rows.csv", "known.csv", "--on", "zip,born")
    Path("films.csv").write_text("who,film\n1,007\n2,7\n3,8\n")
    Path("told.csv").write_text("who,film\n2,7\n")
    found = json.loads(
        run("match", "films.csv", "told.csv", "--person", "who", "--item", "film", "--json")
    )["found"]
    assert found[0]["agreeing"] == 1
    Path("one.csv").write_text("id,zip,ill\n1,01,a\n2,01,b\n")
    Path("other.csv").write_text("id,zip,ill\n1,11,a\n9,11,c\n")
    again = ("--k", "2", "--quasi", "zip:prefix", "--sensitive", "ill", "--person", "id")
    told = run("anonymise", "one.csv", "--again", "other.csv", *again)
    assert "Of 1 people" in told


def test_an_exhaustive_search_says_what_is_proved(run):
    counts = [{"of": [0, 1], "count": 2}, {"of": [2, 3], "count": 1}, {"of": [4], "count": 1}]
    Path("counts.json").write_text(json.dumps({"people": 5, "counts": counts}))
    search = ("reconstruct", "counts.json", "--method", "exhaustive")
    found = json.loads(run(*search, "--error", "0", "--json"))["found"]
    assert (found["consistent"], found["always"], found["never"]) == (2, [0, 1, 4], [])
    told = run(*search, "--error", "0", "--truth", "rows.csv", *BIT)
    assert "3 have it, 0 do not." in told
    assert "right for 2 of 3" in told
    counts[0]["count"] = 9
    Path("counts.json").write_text(json.dumps({"people": 5, "counts": counts}))
    assert "Cannot tell" in run(*search, "--error", "1")
    assert "--error" in run(*search, status=2)
    assert "--error" in run("reconstruct", "counts.json", "--error", "1", status=2)


def test_bits_that_no_sum_of_counts_is_about_are_not_told(run):
    counts = [{"of": [0, 1], "count": 1}, {"of": [2], "count": 1}, {"of": [3], "count": None}]
    Path("counts.json").write_text(json.dumps({"people": 4, "counts": counts}))
    for method in ("squares", "linear"):
        call = ("reconstruct", "counts.json", "--method", method)
        assert json.loads(run(*call, "--json"))["found"]["undetermined"] == [0, 1, 3]
        assert "Of 3 it cannot be told" in run(*call)


def test_ages_that_a_median_and_a_mean_leave(run):
    men = ("ages", "3", "--median", "30", "--mean", "44")
    found = json.loads(run(*men, "--youngest", "1", "--json"))["found"]
    assert (found["distinct"], found["left"]) == (317_750, 30)
    assert "31 of 341,376 combinations" in run(*men)
    assert "nothing can be told" in run("ages", "3", "--median", "30", "--mean", "44.2")


def test_a_true_total_undoes_a_cap(run):
    Path("pay.csv").write_text("pay,zip\n30,1\n900,2\n50,3\n")
    mask = ("mask", "pay.csv", "--columns", "pay", "--on", "zip", "--high", "1000")
    told = run(*mask, "--method", "top-coding", "--amount", "100")
    assert "each value at the cap is 900." in told
    found = json.loads(run(*mask, "--method", "top-coding", "--amount", "40", "--json"))["found"]
    assert found["uncapped"] == {"pay": [40.0, 910.0]}
    assert "No value of pay" in run(*mask, "--method", "top-coding", "--amount", "901")
    assert "no --high" in run(*mask, "--method", "noise", "--amount", "1", status=2)


def test_a_group_of_nobody_has_no_sum(run):
    Path("sums.csv").write_text("people,total\n0,0\n0,5\n")
    ends = ("--people", "people", "--total", "total", "--low", "0", "--high", "9")
    assert "out of range" in run("sums", "sums.csv", *ends, status=2)


@pytest.mark.parametrize("option", ["-o", "--release"])
def test_a_file_that_is_there_is_refused_before_rows_are_read(run, option):
    Path("mine").write_text("mine")
    quasi = ("--k", "2", "--quasi", "zip", "--sensitive", "ill")
    assert "new file" in run("anonymise", "missing.csv", *quasi, option, "mine", status=2)
    assert "new file" in run("anonymise", "missing.csv", *quasi, option, "no/mine", status=2)
