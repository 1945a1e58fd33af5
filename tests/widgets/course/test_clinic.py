"""The last patient of the clinic is the reader's program: what a watch found has a patient of its kind."""

import ast
import re
import textwrap
import warnings
from pathlib import Path
from types import CodeType, ModuleType

import pytest
from copylab import explain, graph, memory, watch
from copylab.course.lesson import lessons_folder, read_notebook
from copylab.lessons import clinic as clinic_lesson
from copylab.lessons import clinic_gradients, mistakes
from copylab.lessons.clinic import refer
from copylab.quiz import Exercise
from copylab.quiz.attempts import run_attempt
from copylab.watching import Watch
from more_answers import MORE

import tinytorch

SILENT = "w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nw.data += 1\nloss.backward()"
STALE = "h = torch.ones(2, requires_grad=True).exp()\nh += 1\nh.sum().backward()"
CUT = (
    "a, b = (torch.ones(2, requires_grad=True) for _ in 'ab')\nopt = torch.optim.SGD([a, b], lr=0.1)\n"
    "((a * 2).detach() * b).sum().backward()\nopt.step()"
)
REPLACED = (
    "net = torch.nn.Linear(1, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "net.weight = torch.nn.Parameter(torch.ones(1, 1))\nnet(torch.ones(1, 1)).sum().backward()\nopt.step()"
)
WITHOUT_GRAPH = "w = torch.ones(2, requires_grad=True)\nw.detach().sum().backward()"
FREED = (
    "w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()\nloss.backward()"
)
SOUND = "w = torch.ones(2, requires_grad=True)\n(w * w).sum().backward()"


@pytest.mark.parametrize(
    ("program", "patient", "heading"),
    [
        (WITHOUT_GRAPH, 4, "The mean of two errors"),
        (CUT, 5, "Two parts, trained together"),
        (STALE, 7, "`exp`, plus one"),
        (SILENT, 8, "Two updates, written by hand"),
        (REPLACED, 9, "Weights from a file"),
        (FREED, 12, "A state, passed from round to round"),
    ],
)
def test_what_a_watch_found_leads_to_a_patient(
    engine: ModuleType, program: str, patient: int, heading: str
) -> None:
    referral = refer(run_watched(program, engine))
    assert f"Patient {patient}" in referral.text()
    assert referral.html().count(f'<a href="#Patient-{patient}">') == 1
    cells = {cell["id"]: "".join(cell["source"]) for cell in clinic()["cells"]}
    assert f"## Patient {patient}\n\n**{heading}.** " in cells[f"patient-{patient}"]


PATIENTS = [
    thing
    for module in (clinic_lesson, clinic_gradients)
    for thing in vars(module).values()
    if isinstance(thing, Exercise)
]


@pytest.mark.parametrize("patient", PATIENTS, ids=lambda patient: patient.title)
def test_a_patient_asks_what_is_wrong_and_no_heading_tells(
    engine: ModuleType, patient: Exercise
) -> None:
    asked = patient.diagnosis
    assert asked is not None
    assert 3 <= len(asked.choices) <= 4
    at_start = run_attempt(patient.start, None, engine).variables
    when_solved = run_attempt(patient.start, patient.code, engine).variables
    assert list(asked.find_faults(at_start, when_solved)) == []
    number = patient.title.removeprefix("Patient ")
    cells = {cell["id"]: "".join(cell["source"]) for cell in clinic()["cells"]}
    _, _, heading = cells[f"patient-{number}"].partition("\n\n")
    told = set(re.findall(r"\w{4,}", heading.lower()))
    # But for the code that a choice quotes: it is in the program, which is read first.
    choices = re.sub("`[^`]*`", "", " ".join(asked.choices))
    assert not told & set(re.findall(r"\w{4,}", choices))


def test_each_kind_of_mistake_is_asked_for_and_no_place_gives_it_away() -> None:
    asked = [patient.diagnosis for patient in PATIENTS if patient.diagnosis]
    assert len(asked) == 12
    kinds = {
        kind for name, kind in vars(mistakes).items() if name.isupper() and isinstance(kind, str)
    }
    of_kinds = [each for each in asked if set(each.choices) <= kinds]
    assert {each.right for each in of_kinds} == kinds
    of_lines = [each for each in asked if each not in of_kinds]
    assert len(of_lines) == 2, "by two patients near the end it is asked which line it is"
    # By its code: a cell shows no numbers of lines.
    starts = {id(patient.diagnosis): patient.start for patient in PATIENTS}
    for each in of_lines:
        for choice in each.choices:
            code, *_ = choice.removeprefix("`").split("`")
            assert code.partition("...")[0] in starts[id(each)], choice
            assert "line " not in choice
    for each in asked:
        assert each.against.keys() == set(each.choices) - {each.right}, "each wrong one is refuted"
    places = [each.choices.index(each.right) for each in asked]
    assert max(map(places.count, places)) < 6


def test_code_in_a_referral_is_in_code_type(engine: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(REPLACED)
    html = refer(run_watched(compile(REPLACED, file, "exec"), engine)).html()
    for code in (
        "opt.param_groups[0][&quot;params&quot;][0]",
        "opt",
        "net.weight",
        "net.weight = torch.nn.Parameter(torch.ones(1, 1))",
    ):
        assert f"<code>{code}</code>" in html, code
    assert "param" not in re.sub("<code>.*?</code>", "", html).replace("parameter", "")


def test_nothing_found_is_no_patient(engine: ModuleType) -> None:
    said = refer(run_watched(SOUND, engine)).text()
    assert "each was as it was saved" in said
    assert "saw none of these here. That does not mean that the program is right" in said
    assert "memory that is shared (1, 2)" in said


def run_watched(program: str | CodeType, engine: ModuleType) -> Watch:
    with watch(silent="record") as seen:
        try:
            exec(program, {"torch": engine})
        except RuntimeError:
            assert program in (STALE, WITHOUT_GRAPH, FREED)
    return seen


def clinic() -> dict:
    return read_notebook(lessons_folder() / "14_clinic.ipynb")


def test_no_patient_is_drawn_from_the_names_of_another() -> None:
    """After patient 7 had been run anew, the look of patient 12 drew the graph of patient 7."""
    cells = {cell["id"]: "".join(cell["source"]) for cell in clinic()["cells"]}
    for number in range(1, 13):
        read = list_names(cells[f"look-{number}"], ast.Load)
        for other in set(range(1, 13)) - {number}:
            assert not read & list_names(cells[f"answer-{other}"], ast.Store), (number, other)
        for own in ("own-watch-code", "your-program-code"):
            assert not read & list_names(cells[own], ast.Store), (number, own)


def list_names(source: str, context: type[ast.expr_context]) -> set[str]:
    """Return the names that a program reads, or those that it binds."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    return {node.id for node in nodes if isinstance(node.ctx, context)}


@pytest.mark.parametrize("patient", PATIENTS, ids=lambda patient: patient.title)
def test_the_look_below_a_patient_works_after_every_right_answer_run_twice(
    engine: ModuleType, patient: Exercise
) -> None:
    """`graph(state=0.125)` raised where the right answer handed on a number."""
    number = patient.title.removeprefix("Patient ")
    cells = {cell["id"]: "".join(cell["source"]) for cell in clinic()["cells"]}
    assert patient.key is not None
    right, _ = MORE[patient.key]
    for answer in [None, patient.code, *patient.also, *right]:
        names = {"torch": engine, "explain": explain, "graph": graph, "memory": memory}
        program = "" if answer is None else answer
        for _ in range(2):
            exec(f"{patient.start}\n", names)
            exec(textwrap.dedent(program), names)
            with warnings.catch_warnings(action="ignore"):
                exec(cells[f"look-{number}"], names)


def test_after_the_right_answer_patient_7_shows_its_gradient(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It said that a further backward would raise, as it does after any."""
    cells = {cell["id"]: "".join(cell["source"]) for cell in clinic()["cells"]}
    names = {"torch": tinytorch, "explain": explain}
    exec(cells["answer-7"], names)
    exec(cells["look-7"], names)
    assert "would raise" in capsys.readouterr().out
    exec(f"{clinic_gradients.write_before.start}\n", names)
    exec(clinic_gradients.write_before.code, names)
    exec(cells["look-7"], names)
    assert capsys.readouterr().out == "logits.grad: tensor([2.7183, 7.3891])\n"
