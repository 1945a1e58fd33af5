"""The checkers behind test_guards.py: each takes plain data and returns what is wrong with it, in words."""

import ast
import builtins
import graphlib
import inspect
import keyword
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType

from project_files import ROOT

# Files as they are parsed


def parse_file(path: Path) -> ast.Module:
    """Return the syntax tree of a file; nobody changes it."""
    return _parse_text(path.read_text(encoding="utf-8"))[0]


def list_nodes(path: Path) -> list[ast.AST]:
    """Return all nodes of the syntax tree of a file."""
    return _parse_text(path.read_text(encoding="utf-8"))[1]


def forget_files() -> None:
    """Let the trees go: they are millions of nodes."""
    _parse_text.cache_clear()


@cache  # a dozen guards read the same 450 files
def _parse_text(text: str) -> tuple[ast.Module, list[ast.AST]]:
    tree = ast.parse(text)
    return tree, [*ast.walk(tree)]


# Imports


def modules(packages: dict[str, Path]) -> dict[str, Path]:
    """Return the file of every module of the packages, by its dotted name."""
    found = {}
    for package, folder in packages.items():
        for path in folder.rglob("*.py"):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: Iterable[str], *, later: bool = True) -> set[str]:
    """Return the known modules that a module imports, not for type checkers alone; `later`: inside functions, too."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    targets: set[str] = set()
    for node in _imports_that_run(parse_file(path), later=later):
        if isinstance(node, ast.Import):
            targets.update(alias.name for alias in node.names)
        else:
            base = _imported_from(node, package)
            full = {f"{base}.{alias.name}" for alias in node.names}
            targets |= {target if target in known else base for target in full}
    return (targets & set(known)) - {name}


def imports_as_written(name: str, path: Path, known: Iterable[str]) -> set[str]:
    """Return the known modules that the import statements of a module name: `from .room import part` names `room`.

    `from . import room` names `room`, too, where the package in front is the module's own or one above.
    """
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    targets: set[str] = set()
    for node in _imports_that_run(parse_file(path)):
        if isinstance(node, ast.Import):
            targets.update(alias.name for alias in node.names)
            continue
        base = _imported_from(node, package)
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            targets.add(inner if inner in known and f"{package}.".startswith(f"{base}.") else base)
    return targets & set(known)


def _imported_from(node: ast.ImportFrom, package: str) -> str:
    """Return the full dotted name of what stands after `from`."""
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def _imports_that_run(
    tree: ast.AST, *, later: bool = True
) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements that are not for type checkers alone; `later`: inside functions, too."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            todo.extend(node.orelse)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif later or not isinstance(node, ast.FunctionDef):
            todo.extend(_list_statements_below(node))


def _list_statements_below(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node but expressions, which are most of them and import nothing."""
    return [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]


def import_graph(packages: dict[str, Path], *, later: bool = True) -> dict[str, set[str]]:
    """Return, for every module of the packages, the modules of theirs that it imports."""
    found = modules(packages)
    return {name: imports(name, path, found, later=later) for name, path in found.items()}


def import_circle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a circle of imports, or an empty list."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def find_room_faults(
    packages: dict[str, Path], rooms: list[str], doors: dict[str, str]
) -> list[str]:
    """Return the imports that go up, or into a room below past its face; those for type checkers alone are left out.

    rooms: dotted names, the lowest first; a module belongs to the room with the longest name that it begins with.
    doors: a module, and the one inside of a room that it may import.
    """
    known = modules(packages)
    faults = set()
    for name, path in known.items():
        own = _room_of(name, rooms)
        for target in imports_as_written(name, path, known):
            room = _room_of(target, rooms)
            if room == own or doors.get(name) == target:
                continue
            if rooms.index(room) > rooms.index(own):
                faults.add(f"{name} imports {target}, which is above it")
            elif target != room:
                faults.add(f"{name} imports {target}, which is inside of {room}")
    return sorted(faults)


def _room_of(name: str, rooms: list[str]) -> str:
    found = [room for room in rooms if f"{name}.".startswith(f"{room}.")]
    if not found:
        raise KeyError(f"{name} is in no room")
    return max(found, key=len)


def reaches(graph: dict[str, set[str]], kept_apart: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the imports of a module of something that it is to know nothing of."""
    return [
        f"{name} imports {target}"
        for name, others in kept_apart.items()
        for target in sorted(graph[name])
        if any(f"{target}.".startswith(f"{other}.") for other in others)
    ]


# How code reads


def class_names(paths: Iterable[Path]) -> dict[str, list[str]]:
    """Return the files of each class at the top of a module, by its name without underscores in front."""
    found: dict[str, list[str]] = {}
    for path in paths:
        for node in parse_file(path).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name.lstrip("_"), []).append(path.name)
    return found


def long_functions(path: Path, limit: int) -> list[str]:
    """Return the functions of a file that have more lines than the limit, with their number of lines."""
    found = []
    for node in list_nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            if lines > limit:
                found.append(f"{path.name}: {node.name} has {lines} lines")
    return found


def crowded_comprehensions(path: Path) -> list[str]:
    """Return the comprehensions of a file with two `for`, two `if`, or another comprehension inside."""
    kinds = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    found = []
    for node in list_nodes(path):
        if not isinstance(node, kinds):
            continue
        conditions = sum(len(part.ifs) for part in node.generators)
        inside = sum(isinstance(each, kinds) for each in ast.walk(node)) - 1
        if len(node.generators) > 1 or conditions > 1 or inside:
            found.append(f"{path.name}:{node.lineno}")
    return found


def nested_conditionals(path: Path) -> list[str]:
    """Return the conditional expressions of a file with another one inside."""
    found = []
    for node in list_nodes(path):
        if isinstance(node, ast.IfExp):
            inside = sum(isinstance(each, ast.IfExp) for each in ast.walk(node)) - 1
            if inside:
                found.append(f"{path.name}:{node.lineno}")
    return found


def undescribed_fields(path: Path) -> list[str]:
    """Return the fields of records (NamedTuples, dataclasses) of a file that nothing describes.

    A field is described by a string below it, or if the docstring of its class has its name.
    """
    found = []
    for node in list_nodes(path):
        if not isinstance(node, ast.ClassDef):
            continue
        heads = " ".join(map(ast.unparse, (*node.bases, *node.decorator_list)))
        if not re.search(r"NamedTuple|dataclass", heads):
            continue
        words = set(re.findall(r"\w+", (ast.get_docstring(node) or "").lower()))
        for field, below in pairwise([*node.body, ast.Pass()]):
            is_described = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            if isinstance(field, ast.AnnAssign) and not is_described:
                name = ast.unparse(field.target)
                if name not in words:
                    found.append(f"{path.name}: {node.name}.{name}")
    return found


def late_imports(path: Path) -> set[str]:
    """Return the top-level modules that functions of a file import; "." for a relative import."""
    found = set()
    functions = [
        node
        for node in list_nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    todo = [child for function in functions for child in _list_statements_below(function)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." if node.level else (node.module or "").partition(".")[0])
        # A function inside of it is in the list already.
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            todo.extend(_list_statements_below(node))
    return found


def find_english_caches(path: Path) -> list[str]:
    """Return the cached functions and properties that go on in the language of their first call.

    Those that ask for a translation themselves; what they call is not followed.
    """
    found = []
    for node in list_nodes(path):
        if not isinstance(node, ast.FunctionDef):
            continue
        decorators = {
            re.sub(r"^functools\.|\(.*", "", ast.unparse(each)) for each in node.decorator_list
        }
        if not decorators & {"cache", "lru_cache", "cached_property"}:
            continue
        calls = {ast.unparse(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
        if calls & {"gettext", "ngettext"}:
            found.append(f"{path.name}: {node.name}")
    return found


def strangers(loaded: Iterable[str], allowed: set[str], standard: Iterable[str]) -> set[str]:
    """Return the top-level modules among the loaded ones that are neither allowed nor of the standard library."""
    return {name.partition(".")[0] for name in loaded} - allowed - set(standard)


# Files


def spoken(files: Iterable[Path], words: dict[str, set[str]], root: Path = ROOT) -> list[str]:
    """Return where something is read, such as `eval` or `sys._getframe`, in a file that is not among those that may."""
    found = []
    for path in files:
        nodes, name = list_nodes(path), path.relative_to(root).as_posix()
        names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        names |= {ast.unparse(n) for n in nodes if isinstance(n, ast.Attribute)}
        taken = (n for n in nodes if isinstance(n, ast.ImportFrom))
        names |= {f"{n.module}.{alias.name}" for n in taken for alias in n.names}
        found += [
            f"{name} has {word}"
            for word, where in words.items()
            if word in names and name not in where
        ]
    return found


_OF_A_PATH = {
    *("chmod", "hardlink_to", "mkdir", "open", "read_bytes", "read_text", "rmdir", "symlink_to"),
    *("touch", "unlink", "write_bytes", "write_text"),
}
_OF_A_MODULE = {
    *("copy", "copy2", "copyfile", "copytree", "link", "makedirs", "move", "remove", "removedirs"),
    *("rename", "renames", "replace", "rmtree", "symlink", "truncate", *_OF_A_PATH),
}


def find_file_access(path: Path) -> list[str]:
    """Return where a file opens, makes, changes or removes files by itself, with what of Path, `os` or `shutil`."""
    found = []
    for node in list_nodes(path):
        if isinstance(node, ast.Attribute):
            is_of_module = ast.unparse(node.value) in ("os", "shutil", "io")
            is_access = node.attr in (_OF_A_MODULE if is_of_module else _OF_A_PATH)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            # `path.replace(target)`, but not `text.replace(old, new)`.
            is_access = node.func.attr in ("replace", "rename") and len(node.args) == 1
        elif isinstance(node, ast.ImportFrom):
            is_access = node.module in ("os", "shutil") and any(
                alias.name in _OF_A_MODULE for alias in node.names
            )
        else:
            is_access = isinstance(node, ast.Name) and node.id == "open"
        if is_access and isinstance(node, ast.expr | ast.stmt):
            found.append((node.lineno, ast.unparse(node)))
    return [f"{path.name} line {line}: {text}" for line, text in sorted(found)]


def foreign_attributes(path: Path) -> list[str]:
    """Return where a file sets an attribute of a class of another module of the package."""
    nodes = list_nodes(path)
    taken = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.level]
    names = {alias.asname or alias.name for n in taken for alias in n.names}
    classes = {n for n in names if n[:1].isupper() and not n.isupper()}
    found = []
    for n in nodes:
        owner: ast.AST | None = None
        if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load):
            owner = n.value
        elif isinstance(n, ast.Call) and ast.unparse(n.func) in ("setattr", "delattr"):
            owner = n.args[0]
        if isinstance(owner, ast.Name) and owner.id in classes:
            found.append(f"{path.name} line {owner.lineno} sets an attribute of {owner.id}")
    return found


def numpy_in_formulas(path: Path, options: Iterable[str]) -> list[str]:
    """Return the gradients' formulas in calls of `op` that speak of NumPy, by the parameter whose they are."""
    tree = parse_file(path)
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    found = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "op":
            for given in call.keywords:
                formula: ast.AST = given.value
                if isinstance(formula, ast.Name):
                    formula = functions.get(formula.id, formula)
                says = any(isinstance(n, ast.Name) and n.id == "np" for n in _running(formula))
                if given.arg not in {*options, None} and says:
                    found.append(f"{path.name} line {call.lineno}: the formula for {given.arg}")
    return found


def _running(formula: ast.AST) -> Iterator[ast.AST]:
    """What runs of a formula: not its annotations."""
    body = formula.body if isinstance(formula, ast.FunctionDef) else [formula]
    return (n for part in body for n in ast.walk(part))


def looked_up(path: Path, registry: str) -> list[str]:
    """Return where a file takes something out of a dictionary of names."""
    tree = parse_file(path)
    found = (
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Subscript) and ast.unparse(n.value) == registry
    )
    return [f"{path.name} line {n.lineno}: {ast.unparse(n)}" for n in found]


def local_paths(text: str, folders: Iterable[str]) -> list[str]:
    """Return the lines that name one of the folders, or anybody's home."""
    wanted = "|".join([*map(re.escape, folders), r"/home/\w", r"/Users/\w", r"[A-Z]:\\+Users"])
    return [line.strip()[:160] for line in text.splitlines() if re.search(rf"(?:{wanted})", line)]


def sh_blocks(markdown: str) -> list[str]:
    """Return the contents of the fenced `sh` blocks."""
    return re.findall(r"^```sh\n(.*?)^```$", markdown, re.MULTILINE | re.DOTALL)


_FENCED = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_LINKS = re.compile(
    r"\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*<?([^\s>]+)|(?:href|src)=[\"']([^\"']+)", re.MULTILINE
)


def anchors(markdown: str, *, notebook: bool = False) -> set[str]:
    """Return what can be linked to: headings (on GitHub in small letters, in a notebook as they are), and every id."""
    headings = re.findall(r"^#{1,6}\s+(.+?)\s*$", markdown, re.MULTILINE)
    if not notebook:
        headings = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.replace(" ", "-") for heading in headings} | set(
        re.findall(r"<\w+ id=\"([^\"]+)\"", markdown)
    )


def broken_links(markdown: str, folder: Path, *, notebook: bool = False) -> list[str]:
    """Return the links of a text shown in a folder that lead to no file, or to no heading; the network is not asked."""
    broken = []
    for link in ("".join(found) for found in _LINKS.findall(_FENCED.sub("", markdown))):
        if re.match(r"[a-z][a-z+.-]*:", link):
            continue
        file, _, heading = link.partition("#")
        target = folder / file
        there = target.exists()
        if heading and not file:
            there = heading in anchors(markdown, notebook=notebook)
        elif there and heading and target.suffix == ".md":
            there = heading in anchors(target.read_text(encoding="utf-8"))
        if not there:
            broken.append(link)
    return broken


# Notebooks

TAGS = {
    "answer",
    "questioned",
    "tinytorch-only",
    "raises-exception",
    "nbval-raises-exception",
    "hide-input",
    "remove-cell",
}
_BANNED = re.compile(
    r"\b(?:Output|interact|interactive|interactive_output|clear_output)\(|display_id|update_display"
)
_UNCHECKED = re.compile(r"NBVAL_(?:IGNORE_OUTPUT|SKIP)|NBVAL_VARIABLE_OUTPUT")


def notebook_faults(notebook: dict) -> list[str]:
    """Return why nbval would not check all of a notebook, or could not: one line per fault."""
    faults = []
    cells = [
        cell
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and "".join(cell["source"]).strip()
    ]
    if not cells:
        faults.append("no code cell")
    for number, cell in enumerate(cells, 1):
        source, tags = "".join(cell["source"]), set(cell.get("metadata", {}).get("tags", []))
        # nbval compares nothing where the count is missing; where it is there, missing outputs are a difference.
        if cell.get("execution_count") != number:
            faults.append(
                f"code cell {number}: its stored run has the number {cell.get('execution_count')}"
            )
        if tags - TAGS:
            faults.append(f"code cell {number}: unknown tags {sorted(tags - TAGS)}")
        if found := _BANNED.search(source):
            faults.append(f"code cell {number}: {found.group()!r} does not survive nbval")
        if found := _UNCHECKED.search(source):
            faults.append(f"code cell {number}: {found.group()!r} turns the comparison off")
        errors = [o["ename"] for o in cell.get("outputs", []) if o["output_type"] == "error"]
        if errors and not tags & {"raises-exception", "nbval-raises-exception"}:
            faults.append(f"code cell {number}: stored {errors} without the tag raises-exception")
    return faults


_WORD = re.compile(r"[A-Za-z_]\w*")
_IN_BACKTICKS = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
# As this project is formatted: parsing 400 files would take five seconds in place of a half. A text
# in three quotes is a docstring if it has lines of its own; any other is passed over as a whole.
_PROSE = re.compile(
    r'^ *r?"""(?P<docstring>.*?)"""$|(?P<text>""".*?""")'
    r"|(?P<comment>(?:^ *#[^\n]*\n)+)|  #(?P<remark>[^\n]*)$",
    re.DOTALL | re.MULTILINE,
)


def docs_of_code(source: str) -> list[tuple[int, str]]:
    """Return the docstrings, blocks of comments and comments behind code, with their lines."""
    return [
        (source.count("\n", 0, match.start()) + 1, match[str(match.lastgroup)].replace("#", " "))
        for match in _PROSE.finditer(source)
        if match.lastgroup != "text"
    ]


def words_of_code(files: Mapping[str, str]) -> set[str]:
    """Return the words in files, by path, and in the paths: without docstrings and comments of Python."""
    words = {*dir(builtins), *keyword.kwlist}
    for name, text in files.items():
        code = _PROSE.sub(r"\g<text>", text) if name.endswith(".py") else text
        words.update(_WORD.findall(name), _WORD.findall(code))
    return words


def unknown_names(text: str, words: Collection[str], files: Iterable[str]) -> list[str]:
    """Return what a text has in backticks and what is neither a word of the code nor one of the files.

    Names with `::` are of C++, so PyTorch's.
    """
    unknown = []
    for name in _IN_BACKTICKS.findall(text):
        if "::" in name:
            continue
        if re.fullmatch(r"[\w./-]+/[\w.-]+\.(?:py|js|css|md)", name):
            is_known = any(f"/{file}".endswith(f"/{name}") for file in files)
        else:
            is_known = all(word in words for word in _WORD.findall(name) if len(word) > 1)
        if not is_known:
            unknown.append(name)
    return unknown


def repeated_sentences(text: str) -> list[str]:
    """Return the sentences that a text has twice, be it once with "torch" and once with "PyTorch"."""
    plain = " ".join(text.replace("PyTorch", "torch").split())
    sentences = [s for s in re.split(r"(?<=[.]) ", plain) if re.fullmatch(r'[A-Z][^"]{15,}[.]', s)]
    return sorted({sentence for sentence in sentences if sentences.count(sentence) > 1})


def misplaced_comments(source: str) -> list[int]:
    """Return the lines of comments before or behind a lone closing bracket, where formatters put them."""
    before = r"^ *# .*\n(?= *[])}])"
    behind = r"^ *[])}]+[,:]*  # (?!noqa|type:|fmt:|isort:|codespell:)"
    found = re.finditer(f"{before}|{behind}", source, re.MULTILINE)
    return [source.count("\n", 0, match.start()) + 1 for match in found]


def public(module: ModuleType) -> dict[str, object]:
    """Return what a module offers: its `__all__`, or what it defines under a name without underscore."""
    home = module.__name__.partition(".")[0]
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and str(getattr(value, "__module__", "")).partition(".")[0] == home
    ]
    return {name: getattr(module, name) for name in names}


def undocumented(module: ModuleType) -> list[str]:
    """Return the public functions, classes and their public methods that have no docstring of their own."""
    bare = []
    for name, value in public(module).items():
        if inspect.isclass(value):
            parts = {f"{name}.{n}": v for n, v in vars(value).items() if not n.startswith("_")}
            kinds = (staticmethod, classmethod, property)
            methods = {
                n: v for n, v in parts.items() if inspect.isroutine(v) or isinstance(v, kinds)
            }
            bare += [
                n for n, v in methods.items() if not (getattr(v, "__doc__", None) or "").strip()
            ]
            if not (vars(value).get("__doc__") or "").strip():
                bare.append(name)
        elif inspect.isroutine(value) and not (value.__doc__ or "").strip():
            bare.append(name)
    return [f"{module.__name__}.{name}" for name in bare]
