"""The attacks, in short: `python tests/hostile/WHICH.py --help` says how to run them at length."""

from __future__ import annotations

from hostile import calls, files


def test_files_written_to_do_harm() -> None:
    tried, failed = files.attack(trials=150, seed=1)
    assert tried > 190
    assert not failed


def test_the_attack_on_files_sees_what_is_wrong() -> None:
    assert files.tried(b"") == ""
    files.CALLED.append("something")
    assert files.tried(files.good()) == "something was called or changed"


def test_calls_with_odd_arguments() -> None:
    tried, failed = calls.attack(trials=2_000, seed=1)
    assert tried == 2_000
    assert not failed
