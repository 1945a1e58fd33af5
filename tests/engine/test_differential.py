"""Random programs on both engines, by Hypothesis: what fails is shrunk to a short program.

The long run is `python tests/engine/differential.py --statements 200000`.
"""

import pytest
from engine import differential
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.torch


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_statement_leaves_both_engines_in_the_same_state(data):
    choose = lambda options: data.draw(st.sampled_from(options))  # noqa: E731
    statements, found = differential.program(choose, 20)
    assert found is None, "\n".join([*statements, f"=> {found}"])


@pytest.mark.parametrize("seed", range(40))
def test_programs_whose_state_is_looked_at_only_at_the_end(seed):
    """Looking regenerates the history of views, so not looking takes other paths."""
    import random

    statements, found = differential.program(random.Random(seed).choice, 20, lambda: False)
    assert found is None, "\n".join([*statements, f"=> {found}"])


def test_a_broken_rule_is_noticed(monkeypatch):
    """detach() with a counter of its own must not pass."""
    import tinytorch

    monkeypatch.setattr(tinytorch.Tensor, "detach", lambda self: self.data)
    found = differential.replay(["x0 = torch.ones(3)", "x1 = x0.detach()", "x1.add_(1)"])
    assert found is not None and "version" in found
