"""The misconception behind a wrong answer, found from what the run did.

Each function takes the run, the wrong answer, and what the question is about. It returns the name
of a misconception in `misconceptions.py`, or None where the answer points to none. A declaration in
`ready_questions.py` names the function as its `find_misconception`.

The answer is a text, as `Question.normalize_answer` returns it: "yes", "[1, 2]". Where it stands
for a value, `parse_value` returns that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from .answers import format_number, is_same_answer, parse_value
from .evidence import is_uninitialized
from .runs import Moment, QuizRun, add_after_lines

_MAX_FORESEEN = 100
"""Answers that are foreseen for a question: a misconception is looked for behind each."""
_MAX_LENGTH = 80
"""Characters of a foreseen answer: nobody types more numbers than that."""


def foresee_answers(run: QuizRun) -> list[str]:
    """Return free answers that can be foreseen: None, small numbers, names and numbers of the run.

    The numbers are the values and gradients after each line, and what each `backward` added to one.
    A page without a kernel can refute these, and stores a retest of each misconception that would be
    found behind one of them.
    """
    answers = dict.fromkeys(["None", *map(str, range(11))])
    gradients: dict[str, Any] = {}
    for moment in run.list_moments():
        added = []
        for name, gradient in moment.grads.items():
            # If you believe that `backward` overwrites, you answer with what the last one added.
            if name in gradients and gradients[name] != gradient:
                added.append(_subtract_lists(gradient, gradients[name]))
            gradients[name] = gradient
        answers |= dict.fromkeys(moment.values)
        for value in (*moment.values.values(), *moment.grads.values(), *added):
            text = format_number(value)
            if len(text) <= _MAX_LENGTH:
                answers.setdefault(text)
        # Of a long loop each round has numbers of its own.
        if len(answers) >= _MAX_FORESEEN:
            break
    return list(answers)[:_MAX_FORESEEN]


def find_same_tensor_misconception(
    run: QuizRun, answer: str, a: str, b: str, *, at: int | None
) -> str | None:
    """Find the misconception behind a wrong answer about two names of one tensor."""
    if answer == "yes":
        return "equal numbers are one tensor"
    return _find_misconception_of_names(run, a, b, at)


def _find_misconception_of_names(run: QuizRun, a: str, b: str, at: int | None) -> str | None:
    """Find the misconception behind a no about two names of one tensor; None if they are two tensors."""
    return "a name is a copy" if run.snapshot(at).is_same_tensor(a, b) else None


def find_shared_storage_misconception(
    run: QuizRun, answer: str, a: str, b: str, *, at: int | None
) -> str | None:
    """Find the misconception behind a wrong answer about shared memory.

    For `same_storage(a, b)`, and for `sees_write(a, b)`: is a write through `b` seen in `a`?
    """
    if answer == "no":
        return _find_misconception_of_sharing(run, a, b, at)
    # A clone is on the graph as well, but taking it for shared memory is an error about copies.
    # Only `b` can be the clone: both questions name the source first, and then the copy.
    is_on_graph = any(run.tensor(name, at).grad_fn is not None for name in (a, b))
    if is_on_graph and not is_result_of_clone(run, b, at):
        return "the graph joins memories"
    return "a copy shares memory"


def _find_misconception_of_sharing(run: QuizRun, a: str, b: str, at: int | None) -> str:
    """Find the misconception behind a no where two tensors do share memory."""
    about_names = _find_misconception_of_names(run, a, b, at)
    if about_names is not None:
        return about_names
    if not run.snapshot(at).shares_counter(a, b):
        return "another tensor, another memory"
    # Over one storage and counter, it is `detach` that makes two differ in requires_grad. A view
    # after `requires_grad_()` differs from its base as well, and is taken for a detached tensor.
    is_detached = run.tensor(a, at).requires_grad != run.tensor(b, at).requires_grad
    return "detach copies" if is_detached else "a view is a copy"


def find_shared_counter_misconception(
    run: QuizRun, answer: str, a: str, b: str, *, at: int | None
) -> str | None:
    """Find the misconception behind a wrong answer about a shared version counter."""
    snapshot = run.snapshot(at)
    if answer == "yes":
        # Not "a copy shares memory": who answers this may have denied that in another row.
        return "shared memory, shared counter" if snapshot.shares_storage(a, b) else None
    about_names = _find_misconception_of_names(run, a, b, at)
    if about_names is not None:
        return about_names
    is_detached = run.tensor(a, at).requires_grad != run.tensor(b, at).requires_grad
    return "detach has its own counter" if is_detached else "a counter for each tensor"


def find_on_graph_misconception(run: QuizRun, answer: str, y: str, *, at: int | None) -> str | None:
    """Find the misconception behind a wrong answer about a node."""
    if answer == "yes":
        return "a plain copy has a node" if _is_made_after_others(run, y) else None
    return "clone cuts the graph" if is_result_of_clone(run, y, at) else "grad is not inherited"


def _is_made_after_others(run: QuizRun, y: str) -> bool:
    """Return True if the name is not among those of the first tensors of the run.

    One of the first has nothing that it could be a copy of. `x` after `x = x.clone()` is taken for
    one of them, too: only names are compared.
    """
    snapshots = (step.observation.snapshot for step in run.trace.steps)
    first_names = next((dict(snapshot.names) for snapshot in snapshots if snapshot.names), {})
    return bool(first_names) and y not in first_names


def find_requires_grad_misconception(_run: QuizRun, answer: str, _y: str, **_at: int | None) -> str:
    """Find the misconception behind a wrong answer about requires_grad."""
    return "requires_grad is copied" if answer == "yes" else "grad is not inherited"


def find_leaf_misconception(run: QuizRun, answer: str, y: str, *, at: int | None) -> str | None:
    """Find the misconception behind a wrong answer about a leaf."""
    if answer == "yes":
        return "a clone is a leaf" if is_result_of_clone(run, y, at) else "grad is not inherited"
    # Not "a plain copy has a node": a learner who says no may know well that it has none.
    return "a leaf is not computed" if _is_made_after_others(run, y) else None


def find_gradient_path_misconception(
    run: QuizRun, answer: str, x: str, of: str, *, at: int | None
) -> str | None:
    """Find the misconception behind a wrong answer about a gradient's path from `of` to `x`."""
    if answer == "no":
        return "clone cuts the graph" if is_result_of_clone(run, of, at) else None
    snapshot = run.snapshot(at)
    if not snapshot.shares_storage(x, of):
        return None
    # `detach` shares the counter, `.data` and NumPy do not.
    return "detach keeps the graph" if snapshot.shares_counter(x, of) else "memory joins graphs"


def find_version_misconception(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Find the misconception behind a wrong version of a tensor."""
    version, tensor = parse_value(answer), run.tensor(x, at)
    if not isinstance(version, int) or tensor.version is None or tensor.counter is None:
        return None
    # More writes than there were: `.grad` was taken for the tensor, or reading for writing. No more
    # than there were gradients, or lines that read.
    added = version - tensor.version
    if added > 0:
        if added <= _count_gradients(run, x, at):
            return "backward changes its leaf"
        is_of_readings = added <= sum(1 for _ in _list_readings(run, x, at))
        return "computing is writing" if is_of_readings else None
    # Fewer: the writes through a view, which count as well, were left out. Those through a second name
    # for the same tensor, too: a number does not tell which of the two was taken for a copy.
    snapshot = run.snapshot(at)
    sharers = {name for name, _ in snapshot.names if snapshot.shares_counter(name, x)}
    # Run, and not counted: a write may be through any of them, and in a loop.
    believed = _list_runs_with_copies(run, sharers, at)
    is_own_count = any(_read_version(each, x, at) == version for each in believed)
    return "a counter for each tensor" if is_own_count else None


def _read_version(run: QuizRun, x: str, at: int | None) -> int | None:
    tensor = _read_or_none(run.tensor, x, at)
    return None if tensor is None else tensor.version


def _count_gradients(run: QuizRun, x: str, at: int | None) -> int:
    """Return how often a tensor was given a gradient, or had one added to its own."""
    gradients = [moment.grads.get(x) for moment in run.list_moments(at)]
    return sum(new is not None and new != old for old, new in pairwise([None, *gradients]))


def _list_readings(run: QuizRun, x: str, at: int | None) -> Iterator[int]:
    """Yield the lines that computed `x`, or read it through any tensor of its counter.

    Only such a line can be taken for a write: `d = out.data` computes nothing.
    """
    names: set[str] = set()
    version: int | None = None
    for moment, step in zip(run.list_moments(at), run.trace.steps, strict=False):
        snapshot, words = moment.snapshot, set(re.findall(r"\w+", step.site.source))
        names_before, names = names, {name for name, _ in snapshot.names}
        if x not in names:
            continue
        last_version, version = version, snapshot.tensor(x).version
        sharers = {name for name in names if snapshot.shares_storage(name, x)}
        if last_version is None:
            # `x` is new. It was computed from names that were there, and is no view of one of them.
            read_names = words & names_before & names
            was_read = bool(read_names) and not read_names & sharers
        else:
            # A tensor of its counter is named, and the line neither writes nor makes a view.
            is_named = any(snapshot.shares_counter(name, x) for name in words & names)
            makes_sharer = bool((names - names_before) & sharers)
            was_read = is_named and last_version == version and not makes_sharer
        if was_read:
            yield step.site.line


def find_offset_misconception(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Find the misconception behind a wrong storage offset."""
    offset, tensor = parse_value(answer), run.tensor(x, at)
    # Where the right answer is 0, or None without a storage, no misconception of the catalogue
    # leads to another number: an element at cell 0 has nothing but zeros as its index.
    if not isinstance(offset, int) or not tensor.offset:
        return None
    if offset == 0:
        return "a view is a copy" if tensor.is_view else None
    # `x` begins with an element that has such an index in another tensor, as `m[1]` with `m[1, 0]`.
    for sharer in run.snapshot(at).storage_sharers(tensor):
        if sharer.id != tensor.id and offset in (sharer.index_at(tensor.start_byte) or ()):
            return "an offset is an index"
    return None


def find_cells_misconception(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Find the misconception behind a wrong number of cells: that of the elements of a view."""
    number, tensor, cells = parse_value(answer), run.tensor(x, at), run.count_cells(x, at)
    # Only a view need not have as many cells as elements (and what `resize_` made smaller).
    if cells is None or number != tensor.numel or not tensor.is_view:
        return None
    sharers = run.snapshot(at).storage_sharers(tensor)
    has_other_name = any(sharer.id != tensor.id and sharer.names for sharer in sharers)
    # While another tensor shows the storage, it is plain that it is there, and `x` was taken for a
    # copy. Otherwise what nobody can read any more may have been taken for freed.
    is_only_reader = tensor.numel < cells and not has_other_name
    return "a slice frees the rest" if is_only_reader else "a view is a copy"


def find_value_misconception(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Find the misconception behind wrong values: those before a write, or of another tensor."""
    moment = run.moment(at)
    snapshot = moment.snapshot
    if x not in {name for name, _ in snapshot.names}:
        return None
    value = moment.values[x]
    same_memory: list[str] = []
    other_memory: list[str] = []
    for name, _ in snapshot.names:
        if name != x:
            (same_memory if snapshot.shares_storage(name, x) else other_memory).append(name)

    # What `x` would show if those over its memory were copies of each other.
    believed = _list_runs_with_copies(run, {x, *same_memory} if same_memory else set(), at)
    shown = [_read_or_none(each.value, x, at) for each in believed]
    if any(each is not None and is_same_answer(answer, each) for each in shown):
        return _find_misconception_of_sharing(run, same_memory[0], x, at)
    # An earlier value of `x` itself is none of another tensor.
    past_values = [past for past in _list_values_in_time(run, x, at) if repr(past) != repr(value)]
    if any(is_same_answer(answer, past) for past in past_values):
        return None
    for name in other_memory:
        # It showed the numbers of `x` once, so it is a copy, and it was changed since.
        answers_its_value = is_same_answer(answer, moment.values.get(name))
        if answers_its_value and value in _list_values_in_time(run, name, at):
            return "a copy shares memory"
    return None


def _list_runs_with_copies(run: QuizRun, names: set[str], at: int | None) -> list[QuizRun]:
    """Return the runs of a program as it is believed to be by who takes shared memory for copies.

    In each a tensor that shares its memory with an earlier one is copied where it gets its name: in
    the first ones a single tensor, in the last one all of them.
    """
    # The numbers of the one are others in each run; the other takes all its time in each.
    if is_uninitialized(run.code) or run.is_endless:
        return []
    lines = {}
    for line, bound in _find_sharing_lines(run, names, at).items():
        lines[line] = "; ".join(f"{name} = {name}.clone()" for name in sorted(bound))
    choices = [{line: copy} for line, copy in lines.items()]
    if len(choices) > 1:
        choices.append(lines)
    codes = [add_after_lines(run.code, statements) for statements in choices]
    return [run.run_variant(code) for code in codes if code is not None]


def _find_sharing_lines(run: QuizRun, names: set[str], at: int | None) -> dict[int, set[str]]:
    """Return the lines that bound a name to memory that another name shows, each with such names."""
    found: dict[int, set[str]] = {}
    for line, bound, moment in _list_bindings(run, at):
        snapshot = moment.snapshot
        others = [other for other, _ in snapshot.names if other not in bound]
        for name in bound & names:
            if any(snapshot.shares_storage(name, other) for other in others):
                found.setdefault(line, set()).add(name)
    return found


def _list_bindings(run: QuizRun, at: int | None) -> Iterator[tuple[int, set[str], Moment]]:
    """Yield each line that gave names to tensors: its number, the names, what could be seen then.

    `QuizRun.history` has the lines of one name, with their sources.
    """
    before: dict[str, str] = {}
    for moment, step in zip(run.list_moments(at), run.trace.steps, strict=False):
        now = dict(moment.snapshot.names)
        bound = {name for name, tensor_id in now.items() if before.get(name) != tensor_id}
        if bound:
            yield step.site.line, bound, moment
        before = now


def _read_or_none(read: Callable[..., Any], x: str, at: int | None) -> Any:
    """Return what a run that was changed has of a tensor; None where it does not get so far."""
    try:
        return read(x, at)
    except ValueError:
        return None


def _list_values_in_time(run: QuizRun, name: str, at: int | None) -> list[Any]:
    new_values = run.history(lambda moment: moment.values[name], at)
    return [each.value for each in new_values]


def find_gradient_misconception(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Find the misconception behind a gradient too early, at the wrong tensor, or overwritten."""
    right, tensor = run.gradient(x, at), run.tensor(x, at)
    gradient = parse_value(answer)
    if right is None:
        if gradient is None:
            return None
        if _is_zero(gradient):
            return "no gradient is a zero"
        # Of what requires no grad it is not known which belief leads to another gradient.
        if not tensor.requires_grad:
            return None
        if not tensor.is_leaf:
            return _find_misconception_of_result(run, answer, x, at)
        # Not where it was set back: nothing that is believed of the graph leads to a number then.
        if any(moment.grads for moment in run.list_moments(at)):
            return None
        # That which a later `backward` gives is believed to be there already.
        later = [moment.grads[x] for moment in run.list_moments() if x in moment.grads]
        is_later = not later or any(is_same_answer(answer, each) for each in later)
        return "the graph has the gradient" if is_later else None
    if gradient is None:
        # A result has one because of `retain_grad`.
        return None if tensor.is_leaf else "a result never has a grad"
    new_values = run.history(lambda moment: moment.grads[x], at)
    # Each `backward` adds. If you believe that it overwrites, you answer with what the last one
    # added.
    added = [_subtract_lists(new.value, old.value) for old, new in pairwise(new_values)]
    is_last_part_alone = any(is_same_answer(answer, part) for part in added)
    return "backward overwrites" if is_last_part_alone else None


def _find_misconception_of_result(run: QuizRun, answer: str, x: str, at: int | None) -> str | None:
    """Find the misconception behind a gradient of what is no leaf: it is the one that arrives there."""
    lines = {line: f"{x}.retain_grad()" for line, bound, _ in _list_bindings(run, at) if x in bound}
    # `retain_grad` on each line that gives it its name: then its `.grad` is what arrives there.
    code = add_after_lines(run.code, lines)
    arrived = None if code is None else _read_or_none(run.run_variant(code).gradient, x, at)
    return "the copy has the gradient" if is_same_answer(answer, arrived) else None


def _is_zero(value: Any) -> bool:
    """Return True for 0 and for (nested) lists of nothing but zeros."""
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_zero, value))
    return bool(value == 0)


def _subtract_lists(value: Any, other: Any) -> Any:
    """Subtract (nested) lists of numbers element by element; None where they differ in shape."""
    if isinstance(value, list) and isinstance(other, list) and len(value) == len(other):
        return [_subtract_lists(a, b) for a, b in zip(value, other, strict=True)]
    # A name can be bound to a tensor of another shape; the values of a large one are None.
    if isinstance(value, list | None) or isinstance(other, list | None):
        return None
    return value - other


def is_result_of_clone(run: QuizRun, y: str, at: int | None) -> bool:
    """Return True if the tensor that `y` means was made by a clone that has a node.

    A write in place gives it another node, so its past nodes count, too. It is known by its id: the
    name may have meant another tensor, and the tensor had another name.
    """
    tensor_id = run.tensor(y, at).id
    nodes = set()
    for moment in run.list_moments(at):
        nodes |= {each.grad_fn_name for each in moment.snapshot.tensors if each.id == tensor_id}
    return "CloneBackward0" in nodes
