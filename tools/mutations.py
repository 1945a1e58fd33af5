"""Break the rules that matter, one at a time, in a copy of the tree, and see if tests notice.

    python tools/mutations.py            all of them, about two minutes
    python tools/mutations.py data.py    those in files of such a name

Ends with 1 if a broken rule is not noticed. Each test is run unbroken first: one that fails anyway
proves nothing.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from project_files import ROOT


class Mutation(NamedTuple):
    """A rule that is broken, by one change of one file, and the test that must fail then."""

    breaks: str
    file: str
    old: str
    new: str
    test: str


_PROGRAM = "tests/test_programs.py::test_tinytorch_prints_what_torch_prints[{}]"

MUTATIONS = (
    Mutation(
        "a write in place is counted",
        "tinytorch/graph/version_counter.py",
        "self.version += 1",
        "self.version += 0",
        _PROGRAM.format("rules/r28_what_bumps_the_version"),
    ),
    Mutation(
        ".data has a version counter of its own",
        "tinytorch/tensor.py",
        "t._counter = counter = _new(VersionCounter)  # `VersionCounter()` takes a tenth longer",
        "t._counter = counter = self._counter",
        _PROGRAM.format("rules/r01_counters_of_detach_and_data"),
    ),
    Mutation(
        "detach() shares memory",
        "tinytorch/tensor.py",
        "        t._counter = counter = self._counter",
        "        t._data, t._storage = self._data.copy(), None\n        t._counter = counter = self._counter",
        _PROGRAM.format("rules/r01_counters_of_detach_and_data"),
    ),
    Mutation(
        "clone() has memory of its own",
        "tinytorch/ops/copies.py",
        "    Kernel(copy_array, is_copy=True),\n    out=False,\n    self=lambda grad: grad,",
        "    Kernel(lambda a, form=None: a, is_copy=True),\n    out=False,\n    self=lambda grad: grad,",
        "tests/viz/test_snapshot.py::test_storage_and_counter_are_told_apart",
    ),
    Mutation(
        "a saved tensor is compared with the version that was saved",
        "tinytorch/graph/saved.py",
        "        if tensor._counter.version != self.saved_version:",
        "        if False:",
        _PROGRAM.format("rules/r09_names_in_the_error"),
    ),
    Mutation(
        "gradients add up in .grad",
        "tinytorch/autograd/accumulate.py",
        "np.add(grad._data, gradient, grad._data)",
        "grad._data[...] = gradient",
        _PROGRAM.format("rules/r19_grad_accumulates_in_place"),
    ),
    Mutation(
        "views share the version counter",
        "tinytorch/ops/short_ways.py",
        "        result._counter = counter\n        result._edge = result._meta = None",
        "        result._counter = VersionCounter(counter.version)\n        result._edge = result._meta = None",
        _PROGRAM.format("views/v03_in_place"),
    ),
    Mutation(
        "nothing is recorded under no_grad",
        "tinytorch/graph/modes.py",
        'do not require grad."""\n\n    mode = False',
        'do not require grad."""\n\n    mode = True',
        _PROGRAM.format("autograd/grad_modes"),
    ),
    Mutation(
        "a leaf that requires grad is not written in place",
        "tinytorch/graph/history.py",
        "    if t._edge is None and needs_grad(t):",
        "    if False:",
        _PROGRAM.format("covered/nn_dropout_and_init"),
    ),
    Mutation(
        "explain() says that it does not know what it cannot know",
        "tinytorch/viz/diagnose/explanation.py",
        "    return NOT_COMPARED",
        '    return "runs"',
        "tests/viz/test_explain.py::test_what_would_run_runs",
    ),
    Mutation(
        "watch() sees a write through .data",
        "widgets/copylab/watching/watched_save.py",
        "return None if now is None and span[0] else now != checksum",
        "return False",
        "tests/widgets/watching/test_around.py::test_a_warning_names_both_lines_and_points_at_backward",
    ),
    Mutation(
        "an exercise about counted writes refuses .data",
        "widgets/copylab/lessons/data.py",
        "    yield shows_values([3], w=w)\n    yield was_written(w=w)",
        "    yield shows_values([3], w=w)",
        "tests/widgets/quiz/test_lesson_definitions.py::test_it_is_verified[data-update-tinytorch]",
    ),
    Mutation(
        "a snapshot keeps no tensor alive",
        "tinytorch/viz/read/identity.py",
        "self.reference = weakref.ref(thing)",
        "self.reference = lambda: thing",
        "tests/viz/test_snapshot.py::test_looking_keeps_nothing_alive",
    ),
    Mutation(
        "text is escaped in SVG",
        "tinytorch/viz/render/style.py",
        "content = escape(shown, quote=False)",
        "content = shown",
        "tests/viz/test_escape.py::test_names_stay_text",
    ),
    Mutation(
        "text is escaped in HTML",
        "widgets/copylab/doc.py",
        "[*pieces, escape(text[end:])]",
        "[*pieces, text[end:]]",
        "tests/widgets/test_doc.py::test_html_stands_in_markdown_and_is_escaped",
    ),
    Mutation(
        "an answer is judged by what it means, not by how it is written",
        "widgets/copylab/quiz/answers.py",
        "    return _equal_values(parse_value(answer), right, decimals if decimals >= 2 else 0)",
        "    return str(answer) == str(right)",
        "tests/widgets/quiz/test_answers.py::test_what_an_answer_means",
    ),
    Mutation(
        "a prediction tells no answer before it is committed",
        "widgets/copylab/quiz/prediction.py",
        'gettext("{what}: {facts}", what=question.answer_format, facts="…")',
        'gettext("{what}: {facts}", what=question.right_answer(self.run()), facts="…")',
        "tests/widgets/quiz/test_predict.py::test_the_twins_are_whole_and_tell_no_answer",
    ),
    Mutation(
        "a lesson is laid out without the outputs that answer its questions",
        "widgets/copylab/course/lesson.py",
        "elif _gives_answer(cell, names, programs):",
        "elif False:",
        "tests/widgets/course/test_course.py::test_outputs_that_answer_a_question_are_left_out",
    ),
    Mutation(
        "progress is whole whenever a kernel is killed",
        "widgets/copylab/safe_files.py",
        "                os.replace(part, place.leaf, src_dir_fd=place.folder, dst_dir_fd=place.folder)",
        "                with contextlib.suppress(FileNotFoundError):\n"
        "                    os.unlink(place.leaf, dir_fd=place.folder)\n"
        "                time.sleep(0.05)\n"
        "                os.replace(part, place.leaf, src_dir_fd=place.folder, dst_dir_fd=place.folder)",
        "tests/widgets/course/test_progress.py::test_a_kernel_that_is_killed_loses_nothing_and_holds_nobody_up",
    ),
    Mutation(
        "a translation has the holes of its text",
        "tools/make_catalogue.py",
        "if sorted(HOLE.findall(form)) != sorted(HOLE.findall(text))",
        "if False",
        "tests/test_make_catalogue.py::test_what_is_not_translated_is_noticed",
    ),
)


def apply_mutation(text: str, mutation: Mutation) -> str:
    """Return the text of a file with its rule broken.

    Raises ValueError unless what is changed is there exactly once: after a change of the code, the
    rule would stay whole, and its test pass.
    """
    count = text.count(mutation.old)
    if count != 1:
        raise ValueError(f"{mutation.file}: {mutation.old!r} stands there {count} times, not once")
    return text.replace(mutation.old, mutation.new)


def python_path(tree: Path) -> str:
    """Return the variable PYTHONPATH with which the packages and tests of a tree are imported."""
    folders = (".", "widgets", "tests", "tools")
    return os.pathsep.join(str(tree / folder) for folder in folders)


def find_failures(tree: Path, tests: Iterable[str]) -> str:
    """Run tests in a tree; return what pytest printed if one of them fails, nothing if they pass.

    RuntimeError, with what it printed, if they could not be run.
    """
    environment = os.environ | {
        # Before the installed packages, which are those of the tree that is whole.
        "PYTHONPATH": python_path(tree),
        # Two changes of a file within a second may leave the older bytecode valid.
        "PYTHONDONTWRITEBYTECODE": "1",
        # The tests of rules use no plugin, and each run would load all of them.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    # One failure is enough.
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    # 0 and 1 are pytest's for passed and failed; with any other, no test has run.
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout if done.returncode else ""


def is_noticed(tree: Path, mutation: Mutation) -> bool:
    """Return True if the test of a rule fails once the rule is broken; the file is put back."""
    file = tree / mutation.file
    whole = file.read_text(encoding="utf-8")
    file.write_text(apply_mutation(whole, mutation), encoding="utf-8")
    try:
        return bool(find_failures(tree, [mutation.test]))
    finally:
        file.write_text(whole, encoding="utf-8")


def copy_project(tree: Path) -> Path:
    """Copy what a checkout holds into a new folder, and return that."""
    ignore_by_pattern = shutil.ignore_patterns("__pycache__", ".*_cache", "node_modules")

    def ignore(folder: str, names: list[str]) -> set[str]:
        ignored = set(ignore_by_pattern(folder, names))
        # At the top alone: a package may have a folder called `course`.
        if Path(folder) == ROOT:
            ignored |= {".git", ".venv", "course"}
        return ignored

    shutil.copytree(ROOT, tree, ignore=ignore)
    return tree


def main() -> int:
    """Try the mutations and say of each whether it was noticed."""
    parser = argparse.ArgumentParser(description="Break rules one at a time; do the tests notice?")
    parser.add_argument(
        "name", nargs="?", default="", help="a part of the names of the files to break"
    )
    name = parser.parse_args().name
    chosen = [mutation for mutation in MUTATIONS if name in mutation.file]
    if not chosen:
        parser.error(f"there is no mutation of a file {name!r}")
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_project(Path(folder) / "copylab")
        tests = sorted({mutation.test for mutation in chosen})
        if printed := find_failures(tree, tests):
            print(printed, "These tests fail with nothing broken.", sep="\n")
            return 1
        missed = 0
        for mutation in chosen:
            if is_noticed(tree, mutation):
                verdict = "noticed    "
            else:
                verdict = "NOT NOTICED"
                missed += 1
            print(f"{verdict}  {mutation.breaks}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} noticed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
