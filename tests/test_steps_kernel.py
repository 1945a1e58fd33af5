"""`steps` in a real kernel: interrupting it keeps the steps so far, and the kernel goes on."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

pytestmark = pytest.mark.slow


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """A kernel with a home of its own."""
    for name in ("HOME", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    manager = KernelManager()
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def messages(client: BlockingKernelClient, code: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run a cell and give its messages until the kernel is idle."""
    ident = client.execute(code)
    while True:
        message = client.get_iopub_msg(timeout=30)
        if message["parent_header"].get("msg_id") != ident:
            continue
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            return
        yield message["msg_type"], message["content"]


def test_interrupt(kernel: tuple[KernelManager, BlockingKernelClient]) -> None:
    manager, client = kernel
    list(messages(client, "from copylab import steps\nsteps('0').html"))
    start = time.monotonic()
    cell = "print('begun', flush=True)\nsteps('a = 1\\nimport time\\ntime.sleep(600)\\nb = 2', seconds=600)"
    found: list[tuple[str, dict[str, Any]]] = []
    for kind, content in messages(client, cell):
        found.append((kind, content))
        if kind == "stream":
            time.sleep(0.3)
            manager.interrupt_kernel()
    assert time.monotonic() - start < 20
    kinds = [kind for kind, _ in found]
    assert "error" not in kinds
    data = next(content for kind, content in found if kind == "execute_result")["data"]
    assert "Interrupted after 3 steps. The steps so far are kept." in data["text/plain"]
    assert "Step 3, line 3: time.sleep(600)" in data["text/plain"]
    assert 'class="copylab-steps"' in data["text/html"]
    after = [content.get("text") for kind, content in messages(client, "print(1 + 1)") if kind == "stream"]
    assert after == ["2\n"]


def test_a_function_of_a_cell(kernel: tuple[KernelManager, BlockingKernelClient]) -> None:
    _, client = kernel
    cell = "from copylab import steps\nimport tinytorch as torch\ndef double(t):\n    u = t * 2\n    return u\n"
    list(messages(client, cell))
    found = list(messages(client, "steps(double, torch.ones(2))"))
    data = next(content for kind, content in found if kind == "execute_result")["data"]
    assert "Step 2, line 3: return u" in data["text/plain"]
    assert "u is a new tensor with a storage of its own." in data["text/plain"]
