"""The plugin as a user meets it: a fixture, two options, and failures that say what is wrong."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from discreet.audit import pytest_plugin

pytest_plugins = ["pytester"]

TESTS = """
import numpy as np
from discreet import Contribution, DiscreteLaplace, Pure, SystemRng

RNG = SystemRng()

def noisy(count, scale):
    return lambda: DiscreteLaplace(scale=scale).release(np.array([count]), RNG)[0]

def test_sound(privacy_audit):
    privacy_audit.assert_private(noisy(0, 1), noisy(1, 1), loss=Pure(1))

def test_half_the_noise(privacy_audit):
    privacy_audit.assert_private(noisy(0, "1/4"), noisy(1, "1/4"), loss=Pure(1))

def test_replays(privacy_audit):
    def count(data, recorder):
        noise = recorder.watch(DiscreteLaplace(scale=1), d_in=Contribution(l1=1))
        return noise.release(np.array([len(data)]), recorder.rng)

    privacy_audit.assert_replays(count, [1], [1, 2])

def test_leaks(privacy_audit):
    privacy_audit.assert_replays(lambda data, recorder: len(data), [1], [1, 2])

def test_options(privacy_audit):
    assert privacy_audit.samples == 600
    assert privacy_audit.suite.alpha == privacy_audit.suite.alpha.__class__("1/1000")
"""


def test_a_users_run(pytester, monkeypatch):
    """The sound test may fail in at most 1e-3/2 of runs by its own rate; here it gets 1e-9."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(test_mine=TESTS.replace('"1/1000"', '"1e-9"'))
    result = pytester.runpytest_subprocess(
        "-p",
        "discreet.audit.pytest_plugin",
        "--audit-samples=600",
        "--audit-alpha=1e-9",
    )
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines_random(
        [
            "*AssertionError: The claimed loss (ε = 1) is broken: ε is at least *",
            "*The results differ although every mechanism gave the same output.*",
            "privacy audit: 2 sampling audits, together a false alarm in at most 1e-09 of runs",
        ]
    )


def test_a_run_without_audits_says_nothing(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(test_mine="def test_nothing(): pass")
    result = pytester.runpytest_subprocess("-p", "discreet.audit.pytest_plugin")
    result.assert_outcomes(passed=1)
    assert "privacy audit:" not in result.stdout.str()


@pytest.mark.parametrize(("config", "workers"), [({}, 1), ({"workercount": 4}, 4)])
def test_processes_share_the_rate(config, workers):
    given: Any = SimpleNamespace(workerinput=config) if config else SimpleNamespace()
    assert pytest_plugin._workers(given) == workers


def test_processes_of_one_run_share_its_rate(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(
        """
        from fractions import Fraction

        def test_share(privacy_audit):
            assert privacy_audit.suite.alpha == Fraction(1, 2000)
        """
    )
    plugins = ("-p", "discreet.audit.pytest_plugin", "-p", "xdist")
    result = pytester.runpytest_subprocess(*plugins, "-n", "2", "--audit-alpha=0.001")
    result.assert_outcomes(passed=1)


def test_the_plugin_is_a_light_import():
    code = (
        "import sys, pytest; before = set(sys.modules); import discreet.audit.pytest_plugin;"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "sys.exit(bool(new & {'numpy', 'scipy', 'attrs', 'duckdb', 'cryptography'}))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
