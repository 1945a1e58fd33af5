"""What stepped code does beyond its names is said at the end: files, random numbers, settings, threads, programs."""

import builtins
import gc
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from copylab import steps
from copylab.run.effects import list_settings

import tinytorch


def said(code: str, engine: ModuleType = tinytorch) -> str:
    return steps(code, engine=engine).end


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class TestFiles:
    @pytest.mark.parametrize(
        ("code", "file"),
        [
            ("open('a.txt', 'w').close()", "a.txt"),
            ("open('a.txt', 'a+').close()", "a.txt"),
            ("from pathlib import Path\nPath('b.txt').write_text('x')", "b.txt"),
            ("import os\nos.close(os.open('c.txt', os.O_CREAT | os.O_WRONLY))", "c.txt"),
            ("import numpy\nnumpy.save('d.npy', numpy.ones(2))", "d.npy"),
            ("import sqlite3\nsqlite3.connect('e.db').close()", "e.db"),
            ("torch.save(torch.ones(2), 'f.pt')", "f.pt"),
        ],
    )
    def test_written(self, folder: Path, engine: ModuleType, code: str, file: str) -> None:
        assert said(code, engine) == f"The code wrote to the file {file}."
        assert (folder / file).exists()

    def test_changed_otherwise(self, folder: Path) -> None:
        (folder / "old.txt").write_text("")
        (folder / "gone.txt").write_text("")
        assert said("import os\nos.remove('gone.txt')") == "The code removed the file gone.txt."
        assert (
            said("import os\nos.rename('old.txt', 'new.txt')")
            == "The code renamed the file old.txt."
        )
        assert said("import os\nos.mkdir('sub')\nos.chdir('sub')") == (
            "The code made the folder sub. "
            "The code changed a setting of the session, which was put back: the current folder."
        )
        assert Path.cwd() == folder

    @pytest.mark.usefixtures("folder")
    def test_many_files_are_counted(self) -> None:
        end = said("for i in range(30):\n    with open(f'{i}.txt', 'w') as f:\n        pass")
        assert end == "The code wrote to the files 0.txt, 1.txt, 2.txt, 3.txt and 26 more."

    def test_a_temporary_file_has_no_name_that_differs(self) -> None:
        assert "The code wrote to a temporary file." in said(
            "import tempfile\nf = tempfile.NamedTemporaryFile()"
        )

    @pytest.mark.usefixtures("folder")
    def test_a_hostile_name_stays_text(self) -> None:
        made = steps("open('<b>\\u202e\\x1b[31m', 'w').close()", engine=tinytorch)
        assert made.end == "The code wrote to the file <b>\\u202e."
        assert "&lt;b&gt;\\u202e" in made.html

    def test_reading_is_not_writing(self, folder: Path) -> None:
        (folder / "a.txt").write_text("1")
        (folder / "mine.py").write_text("a = 1")
        sys.path.insert(0, str(folder))
        try:
            assert said("open('a.txt').read()\nimport mine\nopen('/dev/null', 'w').close()") == ""
        finally:
            sys.path.remove(str(folder))
            sys.modules.pop("mine", None)

    def test_what_others_do_meanwhile_is_theirs(self, folder: Path) -> None:
        go, done = threading.Event(), threading.Event()

        def work() -> None:
            go.wait(10)
            Path("theirs.txt").write_text("")
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        made = steps(
            "go.set()\ndone.wait(10)", engine=tinytorch, namespace={"go": go, "done": done}
        )
        thread.join(10)
        assert made.end == ""
        assert (folder / "theirs.txt").exists()

    @pytest.mark.usefixtures("folder")
    def test_after_the_run_nothing_is_noted(self) -> None:
        made = steps("def f():\n    open('late.txt', 'w').close()", engine=tinytorch)
        Path("mine.txt").write_text("")
        assert made.end == ""


class TestSession:
    @pytest.mark.parametrize(
        ("code", "whose"),
        [
            ("torch.rand(2)", "torch"),
            ("torch.manual_seed(1)", "torch"),
            ("import random\nrandom.random()", "Python"),
            ("import numpy\nnumpy.random.rand(2)", "NumPy"),
            (
                "import numpy, random\nnumpy.random.seed(1)\nrandom.seed(2)\ntorch.randn(2)",
                "torch, NumPy and Python",
            ),
        ],
    )
    def test_random_numbers(self, engine: ModuleType, code: str, whose: str) -> None:
        # Another test may have left what this code sets.
        for seed in (
            engine.manual_seed,
            np.random.seed,
            random.seed,
        ):
            seed(0)
        assert said(code, engine) == (
            f"The code changed the global random state of {whose} (it drew numbers or set a seed): "
            "what your session draws next differs."
        )

    def test_generators_of_its_own_are_its_own(self, engine: ModuleType) -> None:
        code = "g = torch.Generator().manual_seed(3)\ntorch.rand(2, generator=g)\nimport random\nrandom.Random(1).random()"
        assert said(code, engine) == ""

    @pytest.mark.parametrize(
        ("code", "about"),
        [
            ("torch.set_grad_enabled(False)", "whether gradients are recorded"),
            ("torch.no_grad().__enter__()", "whether gradients are recorded"),
            ("torch.set_default_dtype(torch.float64)", "the default dtype"),
            ("import gc\ngc.disable()", "garbage collection"),
            (
                "import sys\nsys.setrecursionlimit(sys.getrecursionlimit() + 7)",
                "the recursion limit",
            ),
            ("import sys\nsys.setprofile(lambda *_: None)", "the profile function"),
            (
                "import signal\nsignal.signal(signal.SIGALRM, lambda *_: None)\nsignal.alarm(3600)",
                "signal handlers",
            ),
            ("import sys\nsys.modules['numpy'] = None", "loaded modules"),
            # An array has no answer to `==` that is a bool.
            (
                "import numpy, sys\nsys.modules['numpy'] = numpy.ones(2)",
                "loaded modules",
            ),
            (
                "import builtins\nbuiltins.len = builtins.isinstance = None",
                "Python's own functions",
            ),
            (
                "import builtins\nbuiltins.dict = builtins.vars = builtins.str = int\n1 / 0",
                "Python's own functions",
            ),
        ],
    )
    def test_settings_are_put_back(self, engine: ModuleType, code: str, about: str) -> None:
        def state() -> list[object]:
            return [
                engine.is_grad_enabled(), engine.get_default_dtype(), gc.isenabled(), sys.getrecursionlimit(),
                sys.getprofile(), signal.getsignal(signal.SIGALRM), sys.modules["numpy"], dict(vars(builtins)),
            ]  # fmt: skip

        before = state()
        end = said(code, engine)
        assert state() == before
        assert end.endswith(
            f"The code changed a setting of the session, which was put back: {about}."
        )

    def test_no_setting_is_claimed_that_was_not_changed(self, engine: ModuleType) -> None:
        assert said("with torch.no_grad():\n    x = torch.ones(2)", engine) == ""

    def test_python_is_as_fast_afterwards(self) -> None:
        program = (
            "import sys\nheard = []\nsys.addaudithook = heard.append\n"
            "from copylab import steps\nimport tinytorch\nopened = open\n"
            "steps('open(__import__(\"os\").devnull).close()', engine=tinytorch)\n"
            "assert not heard and open is opened"
        )
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

    def test_threads_programs_and_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("STEPPED", "0")
        code = """
import os, subprocess, sys, threading
for i in range(2):
    t = threading.Thread(target=print, args=("heard",))
    t.start()
    t.join()
os.environ["STEPPED"] = "1"
subprocess.run([sys.executable, "-c", ""])
"""
        end = said(code)
        assert (
            "The code started 2 threads: threads are not stepped, and only what they print is shown."
            in end
        )
        assert "The code changed environment variables: STEPPED." in end
        assert "The code started other programs: " in end

    def test_what_torch_sets_for_itself_is_not_the_programs_doing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("SET_BY_TORCH", "SET_BY_TORCH_AGAIN", "SET_BY_PROGRAM"):
            monkeypatch.setenv(name, "0")
        set_variables = FunctionType(
            compile(
                "os.environ['SET_BY_TORCH'] = '1'\nos.environ.update(SET_BY_TORCH_AGAIN='1')",
                "cache_dir_utils.py",
                "exec",
            ),
            {"__name__": "torch._inductor.runtime.cache_dir_utils", "os": os},
        )
        shown = steps(
            "set_variables()\nos.environ.update(SET_BY_PROGRAM='1')",
            namespace={"set_variables": set_variables, "os": os},
        )
        assert "The code changed environment variables: SET_BY_PROGRAM." in str(shown)
        assert os.environ["SET_BY_TORCH"] == "1"

    def test_everything_is_put_back(self, engine: ModuleType) -> None:
        start, save = threading.Thread.start, engine.save
        for code in ("x = 1", "1 / 0", "torch.save = 3"):
            steps(code, engine=engine)
        assert threading.Thread.start is start
        assert engine.save == 3, "what the program puts there itself stays"
        engine.save = save  # type: ignore[attr-defined]

    @pytest.mark.torch
    def test_what_is_entered_and_never_left_is_put_back(self) -> None:
        import torch

        def read() -> list[Any]:
            return [setting.read() for setting in list_settings(torch)]

        before = read()
        end = said(LEFT_BEHIND, engine=torch)
        assert read() == before
        assert not torch.utils._python_dispatch.is_in_torch_dispatch_mode()
        for about in (
            "anomaly mode, the default device, the modes that are entered, hooks on saved tensors",
            "whether algorithms are deterministic, autocast, the number of threads",
            "where Python searches for modules, how errors and results are shown, the umask",
            "the decimal context and the switch interval.",
        ):
            assert about in end

    def test_hooks_and_anomaly_mode_of_the_engine_are_put_back(self, engine: ModuleType) -> None:
        end = said(
            "torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()\n"
            "torch.autograd.set_detect_anomaly(True)",
            engine=engine,
        )
        assert "put back: anomaly mode and hooks on saved tensors." in end
        assert not engine.is_anomaly_enabled()
        result = engine.ones(1, requires_grad=True).exp()
        assert result.grad_fn._raw_saved_result.unpack_hook is None


LEFT_BEHIND = """
import sys, os, decimal, threading
from torch.utils._python_dispatch import TorchDispatchMode
torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
torch.set_default_device("meta")
torch.use_deterministic_algorithms(True, warn_only=True)
torch.autograd.set_detect_anomaly(True)
torch.autocast("cpu").__enter__()
torch.set_num_threads(torch.get_num_threads() + 1)
class Passing(TorchDispatchMode):
    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        return op(*args, **(kwargs or {}))
Passing().__enter__()
torch.overrides.TorchFunctionMode().__enter__()
sys.path.append("nowhere")
sys.meta_path.append(None)
sys.excepthook = sys.displayhook = threading.excepthook = print
os.umask(0o012)
decimal.getcontext().prec = 3
sys.setswitchinterval(0.5)
"""
