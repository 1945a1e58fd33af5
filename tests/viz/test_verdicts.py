"""The verdicts of `explain` held against a real backward, over many programs: none is wrong, few are "unknown"."""

import gc
import importlib
import warnings
from collections import Counter
from types import ModuleType

import pytest
from viz import verdicts
from viz.verdicts import Truth, judged

from tinytorch.viz import Explanation

MOST_UNKNOWN = {"alone": 0.06, "inside": 0.045, "run": 0.02}
Held = dict[str, tuple[Explanation, Truth]]


@pytest.fixture(scope="module")
def known() -> dict[str, Held]:
    """What was found for an engine, which is found once."""
    return {}


@pytest.fixture
def held(engine: ModuleType, known: dict[str, Held]) -> Held:
    if engine.__name__ not in known:
        programs = (
            verdicts.BOTH if engine.__name__ == "tinytorch" else verdicts.BOTH | verdicts.TORCH
        )
        found = known.setdefault(engine.__name__, {})
        gc.collect()  # a hook in a cycle lives on, and as long as it does no later verdict is known
        for title, code in programs.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # many programs do what nobody should
                found[title] = verdicts.verdict(code, engine)
            engine.autograd.set_detect_anomaly(False)
            if "hook" in code:
                gc.collect()
    return known[engine.__name__]


def test_no_verdict_is_wrong_and_few_are_unknown(held: Held) -> None:
    judgements = {title: judged(said.verdict, truth) for title, (said, truth) in held.items()}
    count = Counter(judgements.values())
    print(
        f"{len(held)} programs: {count['right']} right, {count['wrong']} wrong, {count['unknown']} unknown"
    )
    assert [title for title, how in judgements.items() if how == "wrong"] == []
    assert len(held) >= 100
    why = Counter(
        said.findings[-1].sentence for said, _ in held.values() if said.verdict == "unknown"
    )
    assert count["unknown"] < len(held) / 4, why.most_common(5)


@pytest.mark.stress
@pytest.mark.torch
def test_how_many_are_unknown_without_a_look() -> None:
    """For docs/decisions.md: the shares of all programs on PyTorch; with `-s` they are printed."""
    torch = importlib.import_module("torch")
    counts: dict[str, Counter[str]] = {"alone": Counter(), "inside": Counter(), "run": Counter()}
    gc.collect()
    for code in (verdicts.BOTH | verdicts.TORCH).values():
        with warnings.catch_warnings(action="ignore"):
            _, truth = verdicts.verdict(code, torch)
            for way, said in verdicts.verdicts_without_looks(code, torch).items():
                assert judged(said, truth) != "wrong", (way, code)
                counts[way][said] += 1
        torch.autograd.set_detect_anomaly(False)
        if "hook" in code:
            gc.collect()
    for way, count in counts.items():
        print(way, {how: f"{number / count.total():.1%}" for how, number in count.items()})
        assert count["unknown"] / count.total() <= MOST_UNKNOWN[way]


def test_each_unknown_says_why(held: Held) -> None:
    for title, (said, _) in held.items():
        if said.verdict in ("unknown", verdicts.NOT_COMPARED):
            kind = "not known" if said.verdict == "unknown" else "not compared"
            why = [finding.sentence for finding in said.findings if finding.kind == kind]
            assert why, title
            assert why[0] in said.text, title
        if said.verdict == "runs":
            assert not said.findings, title


@pytest.mark.parametrize(
    "always", ["runs", "raises", "may be wrong", "unknown", verdicts.NOT_COMPARED]
)
def test_a_verdict_that_is_always_the_same_is_noticed(always: str, held: Held) -> None:
    count = Counter(judged(always, truth) for _, truth in held.values())
    assert count["wrong"] > 10 or count["unknown"] >= len(held) / 4


def test_what_was_written_before_the_first_look_is_what_is_compared_with(
    engine: ModuleType,
) -> None:
    """The limit that the words name: "the bytes of the earlier look"."""
    late = "h = x.exp()\nloss = h.sum()\nh.data.mul_(5)\nlook()"
    said, truth = verdicts.verdict(late, engine)
    assert not truth.right
    assert said.text.endswith("What was saved holds the bytes of the earlier look.")
