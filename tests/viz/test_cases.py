"""The page of cases is current, and tells of real bugs what the engine then does."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from copylab import steps

import tinytorch
from tinytorch.viz import explain, memory, snapshot

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "make_pictures", ROOT / "docs" / "make_pictures.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_pictures"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_page_and_its_pictures_are_current_under_either_engine(
    maker: ModuleType, engine: ModuleType
) -> None:
    assert maker.list_outdated(engine) == [], "make them anew with: python docs/make_pictures.py"


def test_what_is_not_current_is_found(
    maker: ModuleType, engine: ModuleType, tmp_path: Path
) -> None:
    assert "pictures.md" in maker.list_outdated(engine, tmp_path)


def test_the_stale_case_raises_and_its_twin_is_wrong_in_silence(
    maker: ModuleType, engine: ModuleType
) -> None:
    stale, data = (maker.tensors_of_case(case, engine) for case in maker.CASES[:2])
    assert explain(stale).verdict == "raises"
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        stale["loss"].backward()
    assert explain(data).verdict == "may be wrong"
    data["loss"].backward()
    assert data["a"].grad.tolist() == [0.0, 0.0, 0.0]


def test_the_moving_picture_breaks_no_sentence(maker: ModuleType) -> None:
    for frame in steps(maker.MOVING_PROGRAM, engine=tinytorch):
        assert ">requires_grad<" in frame.pictures["memory"].svg


def test_a_state_dict_that_aliases_and_its_copy(maker: ModuleType, engine: ModuleType) -> None:
    snap = snapshot(maker.tensors_of_case(maker.CASES[2], engine))
    net, best, kept = (snap.tensor(f"{name}.weight") for name in ("net", "best", "kept"))
    assert (net.storage, net.counter) == (best.storage, best.counter)
    assert kept.storage != net.storage
    assert "one storage, shared by net.weight and best.weight" in memory(snap).text


def test_a_target_network_that_aliases_and_an_average_that_does_not(
    maker: ModuleType, engine: ModuleType
) -> None:
    snap = snapshot(maker.tensors_of_case(maker.CASES[3], engine))
    net, target, ema = (snap.tensor(f"{name}.weight") for name in ("net", "target", "ema"))
    assert net.storage == target.storage != ema.storage


def test_the_state_of_an_optimizer_has_dotted_names(engine: ModuleType) -> None:
    net = engine.nn.Linear(2, 1)
    opt = engine.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net(engine.ones(1, 2)).sum().backward()
    opt.step()
    names = [name for name, _ in snapshot(net=net, opt=opt).names]
    assert names == [
        "net.weight",
        "net.bias",
        *(f"opt.state[net.{one}].momentum_buffer" for one in ("weight", "bias")),
    ]
    adam = engine.optim.Adam(net.parameters())
    adam.step()
    assert "adam.state.0.exp_avg" in [name for name, _ in snapshot(adam=adam).names]
