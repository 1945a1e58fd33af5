"""`sys.modules["torch"] = tinytorch` gives a program one engine, whatever of torch's modules it imports."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import importlib, sys, tinytorch
sys.modules["torch"] = tinytorch
import torch, torch.nn as nn, torch.nn.functional as F
from torch.autograd import Function
from torch.nn.init import zeros_
from torch.optim import SGD
assert nn is tinytorch.nn is sys.modules["torch.nn"] and F is tinytorch.nn.functional
assert nn.__name__ == nn.__spec__.name == "tinytorch.nn"
layer = nn.Linear(2, 1)
assert isinstance(layer.weight, torch.Tensor)
F.mse_loss(layer(torch.ones(3, 2)), torch.zeros(3, 1)).backward()
SGD(layer.parameters(), lr=0.1).step()
for name in ("torch.nothing", "torch.optim.lr_scheduler", "torch.utils.data"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(error, "PyTorch" in error.__notes__[0])
"""


def test_modules_of_torch_are_those_of_tinytorch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, check=False
    )
    names = ("torch.nothing", "torch.optim.lr_scheduler", "torch.utils.data")
    lines = "".join(f"No module named '{name}' True\n" for name in names)
    assert (done.stdout, done.stderr) == (lines, "")


def test_only_while_torch_is_tinytorch() -> None:
    program = "import tinytorch.alias as a; assert a.TorchImporter.find_spec('torch.nn') is None"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
