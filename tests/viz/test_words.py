"""What a step changed, in sentences: from the same comparison that the pictures draw."""

from types import ModuleType

from tinytorch.viz import Changes, memory, snapshot
from tinytorch.viz.diagnose.diff import compare_snapshots, list_written_names
from tinytorch.viz.show import step_sentences


def describe(changes: Changes, before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    return step_sentences.list_texts(step_sentences.describe_step(changes, before, after))


def test_one_sentence_is_the_headline_and_the_numbers_are_apart(engine: ModuleType) -> None:
    a = engine.tensor(1.0, requires_grad=True)
    b = a.clone()
    z = b * 3
    w = z + a
    before = snapshot(a=a, b=b, z=z, w=w)
    z.backward()
    after = snapshot(a=a, b=b, z=z, w=w, since=before)
    changes = compare_snapshots(after, before)
    said = step_sentences.describe_step(changes, {}, {"i": "2"}, root="z")
    assert [(each.text, each.role) for each in said] == [
        ("The gradient of z reached a through the clone.", "headline"),
        ("a.grad is set: 3.", "numbers"),
        ("Backward freed what MulBackward0 had saved.", "reason"),
        ("i = 2", "reason"),
    ]
    assert said[1].pair == step_sentences.NumberPair("a.grad", "None", "3")
    # Of w one way leads past the clone.
    assert step_sentences.describe_step(changes, {}, {}, root="w")[0].text == (
        "The gradient of w reached a."
    )
    # What a loss is called is known, or nothing is said of it.
    assert step_sentences.describe_step(changes, {}, {})[0].role == "numbers"


def test_a_new_view_of_a_large_tensor_changes_no_value(engine: ModuleType) -> None:
    big = engine.zeros(1000)
    before = snapshot(big=big)
    after = snapshot(big=big, part=big[500:503], since=before)  # other cells of it are now read
    said = describe(compare_snapshots(after, before), {}, {})
    assert said == ("part is a new tensor over the storage of big, with the same version counter.",)


def test_picture_and_sentences_agree_on_the_cells_that_changed(engine: ModuleType) -> None:
    x = engine.ones(3)
    d = x.detach()
    before = snapshot(x=x, d=d)
    d[1] = 5
    after = snapshot(x=x, d=d, since=before)
    assert "The values of x and d changed." in describe(compare_snapshots(after, before), {}, {})
    assert "changed: cell 1 was 1.0." in memory(after, since=before).text
    assert list_written_names(before, after) == ["x", "d"]


def test_what_one_step_computes_and_frees_is_told_though_the_last_graph_was_freed_too(
    engine: ModuleType,
) -> None:
    x = engine.ones(3, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    before = snapshot(x=x, y=y)
    y = (x * x).sum()
    y.backward()
    after = snapshot(x=x, y=y, since=before)
    assert "Backward freed what MulBackward0 had saved." in describe(
        compare_snapshots(after, before), {}, {}
    )


def test_a_gradient_written_with_the_values_it_had_has_not_changed(engine: ModuleType) -> None:
    x = engine.ones(1, requires_grad=True)
    (x * 2).sum().backward()
    before = snapshot(x=x)
    assert x.grad is not None
    x.grad.add_(0)
    assert describe(compare_snapshots(snapshot(x=x, since=before), before), {}, {}) == ()
    x.grad.add_(1)
    assert describe(compare_snapshots(snapshot(x=x, since=before), before), {}, {}) == (
        "x.grad changed: [2] → [3].",
    )


def test_the_other_variables_and_at_most_twelve_sentences(engine: ModuleType) -> None:
    before = snapshot({"x": engine.ones(1)})
    after = snapshot({f"x{k}": engine.ones(1) for k in range(20)}, since=before)
    said = describe(compare_snapshots(after, before), {"i": "1", "j": "2"}, {"i": "1", "j": "3"})
    assert len(said) == 12
    assert said[-1] == "And 11 more changes."
    assert describe(
        compare_snapshots(after, after), {"i": "1", "j": "2"}, {"i": "1", "j": "3"}
    ) == ("j = 3",)
