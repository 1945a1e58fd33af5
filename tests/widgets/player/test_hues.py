"""Hues of names: one for a name in all pictures of a run, as far as it is not that of another tensor."""

from types import ModuleType

from copylab import Steps, steps
from copylab.lessons.start import bet

from tinytorch.viz.render.style import hue_of


def ids_and_hues(player: Steps, name: str) -> tuple[set[str], set[str]]:
    """Give the ids of the tensors that a name has had in a run, and their hues."""
    seen = [
        dict(frame.step.observation.snapshot.names) for frame in player if frame.step.observation
    ]
    ids = {names[name] for names in seen if name in names}
    return ids, {hue_of(tensor_id) for tensor_id in ids}


def test_a_name_that_rounds_bind_anew_keeps_its_hue(engine: ModuleType) -> None:
    code = """
w = torch.tensor(1.0, requires_grad=True)
for step in range(3):
    best = w.detach()
    loss = (w - 5) ** 2
    loss.backward()
"""
    player = steps(code, engine=engine)
    for name, tensors in (("w", 1), ("best", 3), ("loss", 3)):
        ids, hues = ids_and_hues(player, name)
        assert (name, len(ids), len(hues)) == (name, tensors, 1)


def test_best_of_the_first_lesson_has_one_hue_in_all_pictures() -> None:
    """It was teal in the first round, and olive after it and in the picture at the end."""
    player = bet.steps()
    ids, hues = ids_and_hues(player, "best")
    assert (len(ids), len(hues)) == (2, 1)


def test_a_tensor_that_is_still_there_keeps_its_hue(engine: ModuleType) -> None:
    player = steps("x = torch.ones(2)\ny = x\nx = x + 1\ny = y + 1", engine=engine)
    *_, aliased, rebound, last = (
        {name: hue_of(tensor) for name, tensor in frame.step.observation.snapshot.names}
        for frame in player
    )
    assert aliased["x"] == aliased["y"] == rebound["y"] == last["y"]
    assert rebound["x"] == last["x"] != rebound["y"]


def test_of_two_new_tensors_one_alone_takes_the_place_of_what_is_gone(engine: ModuleType) -> None:
    player = steps("x = torch.ones(2)\ny = x\nx, y = x + 1, y + 2", engine=engine)
    names = dict(player[-1].step.observation.snapshot.names)
    assert hue_of(names["x"]) != hue_of(names["y"])


def test_a_name_that_is_a_colour_has_that_hue(engine: ModuleType) -> None:
    """A tensor named blue was teal, and one named red was orange."""
    code = (
        "a = torch.ones(3)\nred = a + 1\nblue = red[1:]\ngreen = a * 2\nblue = blue + 1\nz = a * 3"
    )
    player = steps(code, engine=engine)
    for name, hue in (("red", "h3"), ("blue", "h0"), ("green", "h2")):
        assert (name, ids_and_hues(player, name)[1]) == (name, {hue})
    names = dict(player[-1].step.observation.snapshot.names)
    assert len(set(names.values())) == 5, "no two tensors have one id"
