"""All widgets where Python runs in a browser, as far as that can be emulated: no threads, no processes, no wasmtime.

    python tests/browser_kernel.py     says of each what came out

The JavaScript around such a Python is emulated, too: here wasmtime runs Graphviz in its place.
"""

import platform
import shutil
import subprocess
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

PROGRAM = "x = torch.ones(3, requires_grad=True)\ny = x.clone()\ny.sum().backward()"


def javascript() -> dict[str, ModuleType]:
    """The modules `js` and `pyodide.ffi`, as far as the layout uses them."""
    import wasmtime

    engine: Any = wasmtime.Engine()

    def instance(module: Any) -> SimpleNamespace:
        store, linker = wasmtime.Store(engine), wasmtime.Linker(engine)
        store.set_wasi(wasmtime.WasiConfig())
        linker.define_wasi()
        exports: Any = linker.instantiate(store, module).exports(store)

        def read(address: int, length: int) -> SimpleNamespace:
            return SimpleNamespace(
                to_py=lambda: exports["memory"].read(store, address, address + length)
            )

        return SimpleNamespace(
            call=lambda name, *args: exports[name](store, *args),
            write=lambda data, address: exports["memory"].write(store, data, address),
            read=read,
        )

    js, pyodide, ffi = ModuleType("js"), ModuleType("pyodide"), ModuleType("pyodide.ffi")
    module = SimpleNamespace(new=lambda data: wasmtime.Module(engine, data))
    vars(js).update(WebAssembly=SimpleNamespace(Module=module), eval=lambda _: instance)
    vars(ffi).update(to_js=lambda data: data)
    return {"js": js, "pyodide": pyodide, "pyodide.ffi": ffi}


def enter() -> None:
    """Make this Python as poor as one in a browser."""
    import IPython.display  # noqa: F401 - it is there

    sysconfig.get_config_vars()  # it looks for a file of the platform's

    def no_thread(*_: object) -> NoReturn:
        raise RuntimeError("can't start new thread")

    def no_process(*_: object, **__: object) -> NoReturn:
        raise OSError(138, "emscripten does not support processes.")

    sys.modules.update(javascript())
    for owner, name, value in (
        (threading.Thread, "start", no_thread),
        (subprocess.Popen, "__init__", no_process),
        (shutil, "which", lambda *_, **__: None),
        (sys, "platform", "emscripten"),
        (platform, "machine", lambda: "wasm32"),
        (platform, "system", lambda: "Emscripten"),
    ):
        setattr(owner, name, value)


def tries() -> dict[str, Callable[[], object]]:
    """Programs to try; each must give something that is true."""
    import copylab

    import tinytorch as torch

    x = torch.ones(3, requires_grad=True)
    y = x.clone() * 2

    def is_two(y: object) -> bool:
        return y == 2

    def raced() -> bool:
        return (
            copylab.race(["clone", "detach"], [1, 100], engine=torch, rounds=2).run().ended
            == "finished"
        )

    def timed_out() -> bool:
        waits = "import time\nwhile True: time.sleep(0.01)"
        return copylab.steps(waits, engine=torch, seconds=0.1, max_steps=10_000).ended == "time"

    def predicted() -> object:
        prediction = copylab.predict(PROGRAM, engine=torch)
        return prediction.commit(["no"] * len(prediction.questions)).text

    def laid_out_in_the_browser() -> bool:
        from tinytorch.viz.render import layout

        return layout._load_wasm() is not None  # where there is no wasmtime

    task = copylab.exercise("two", "Make y.", check=is_two, solution="y = 2")
    return {
        "memory": lambda: copylab.memory(x, y).svg,
        "graph": lambda: "MulBackward0" in copylab.graph(y)._repr_mimebundle_()["text/html"],
        "graph, laid out by the browser": laid_out_in_the_browser,
        "graph as Graphviz draws it": lambda: copylab.graph(y).pipe(format="svg"),
        "explain": lambda: copylab.explain(y.sum()).text,
        "steps": lambda: "data-picture" in copylab.steps(PROGRAM, engine=torch).html,
        "steps, live": lambda: copylab.steps(PROGRAM, engine=torch).live().html,
        "steps, stopped in time": timed_out,
        "CopyLab": lambda: copylab.CopyLab(engine=torch).html,
        "compare": lambda: copylab.compare("clone", "detach", engine=torch).html,
        "predict": lambda: copylab.predict(PROGRAM, engine=torch).html,
        "predict, live": lambda: copylab.predict(PROGRAM, engine=torch).live().html,
        "predict, committed": predicted,
        "race": raced,
        "exercise, checked": lambda: "y" in str(task.check()),
        "exercise, verified": lambda: task.verify() is None or True,
    }


def main() -> int:
    """Try all of it; 1 if anything fails."""
    enter()
    failed = 0
    for name, make in tries().items():
        try:
            ok = bool(make())
        except BaseException:  # noqa: BLE001 - whatever it is, it is told
            traceback.print_exc(file=sys.stdout)
            ok = False
        failed += not ok
        print("ok  " if ok else "FAIL", name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
