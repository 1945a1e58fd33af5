"""`steps` in a real kernel: interrupting it keeps the steps so far, and the kernel goes on."""

import time
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from kernels import messages

pytestmark = pytest.mark.slow


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
    after = [
        content.get("text")
        for kind, content in messages(client, "print(1 + 1)")
        if kind == "stream"
    ]
    assert after == ["2\n"]


def test_a_function_of_a_cell(kernel: tuple[KernelManager, BlockingKernelClient]) -> None:
    _, client = kernel
    cell = "from copylab import steps\nimport tinytorch as torch\ndef double(t):\n    u = t * 2\n    return u\n"
    list(messages(client, cell))
    found = list(messages(client, "steps(double, torch.ones(2))"))
    data = next(content for kind, content in found if kind == "execute_result")["data"]
    # As a traceback and a watch call it.
    assert "Step 2, In[1], line 5: return u" in data["text/plain"]
    assert "u is a new tensor with a storage of its own." in data["text/plain"]
