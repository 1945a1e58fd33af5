"""The simulated second device: own storages, gradients across, and torch's words for mixing."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

import tinytorch as torch


@pytest.fixture
def pair() -> tuple[torch.Tensor, torch.Tensor]:
    """The same values here and there."""
    a = torch.arange(6.0).view(2, 3)
    return a, a.cuda()


def test_a_copy_there_has_memory_of_its_own(pair: tuple) -> None:
    a, c = pair
    d = a.to("cuda")
    back = d.cpu()
    d.zero_()
    assert a.sum() == 15 and back.sum() == 15
    assert c.cuda() is c and c.to("cuda:0") is c and a.cpu() is a
    assert c.untyped_storage().device == c.device == torch.device("cuda", 0)


def test_a_number_is_an_index_of_the_accelerator(pair: tuple) -> None:
    a, c = pair
    moved = a.to(0)
    assert moved.device is c.device and "cuda:0" in repr(moved)
    assert torch.ones(2, device=0).device == torch.device(0) == torch.device("cuda", 0)
    for index in (1, 3):
        with pytest.raises(NotImplementedError, match=f"cuda:{index}"):
            a.to(index)


def test_what_is_made_from_it_lies_there(pair: tuple) -> None:
    _, c = pair
    c.requires_grad_()
    made = [c.clone(), c.detach(), c.t(), c[0], c + 1, c.sum(), c @ c.t(), c.new_zeros(2), torch.zeros_like(c),
            copy.deepcopy(c), torch.tensor([1], device="cuda"), torch.rand(2, device="cuda"), (c > 0)]  # fmt: skip
    assert {str(t.device) for t in made} == {"cuda:0"}
    assert repr(c[0]) == "tensor([0., 1., 2.], device='cuda:0', grad_fn=<SelectBackward0>)"


def test_gradients_cross_over() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.cuda()
    assert y.grad_fn.name() == "ToCopyBackward0" and not y.is_leaf
    (y * torch.tensor(3.0)).sum().cpu().backward()
    assert x.grad.tolist() == [3.0] * 3 and x.grad.device.type == "cpu"
    c = torch.ones(2, device="cuda", requires_grad=True)
    (c.cpu() * 2).sum().backward()
    assert c.grad.device.type == "cuda"


MIXED: list[tuple[Callable, str]] = [
    (lambda a, c: a + c, "found at least two devices, cuda:0 and cpu!"),
    (lambda a, c: c.mul_(a), "found at least two devices, cuda:0 and cpu!"),
    (lambda a, c: a.add_(c.sum()), "found at least two devices, cuda:0 and cpu!"),
    (lambda a, c: torch.where(c > 0, a, c), "found at least two devices, cuda:0 and cpu!"),
    (lambda a, c: torch.cat([a, c]), "two devices"),
    (lambda a, c: a @ c.t(), "Expected all tensors to be on the same device"),
    (lambda a, c: torch.nn.Linear(3, 2).cuda()(a), "Expected all tensors to be on the same device"),
    (lambda a, c: a.to("cuda:1"), "is not in tinytorch"),
]  # fmt: skip


@pytest.mark.parametrize(("mix", "words"), MIXED)
def test_mixing_is_refused_in_torchs_words(pair: tuple, mix: Callable, words: str) -> None:
    with pytest.raises(RuntimeError) as error:
        mix(*pair)
    assert words in str(error.value)


def test_a_number_from_the_cpu_goes_along(pair: tuple) -> None:
    _, c = pair
    assert (c * torch.tensor(2.0)).device.type == (torch.tensor(2.0) * c).device.type == "cuda"
    c.add_(torch.tensor(1.0))
    assert c.sum() == 21


def test_numpy_is_told_to_ask_for_a_copy(pair: tuple) -> None:
    _, c = pair
    with pytest.raises(
        TypeError, match=r"Use Tensor.cpu\(\) to copy the tensor to host memory first"
    ):
        c.numpy()
    assert c.numpy(force=True).tolist() == c.tolist()


def test_a_network_trains_there() -> None:
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1).cuda()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.1)
    x = torch.rand(8, 3).cuda()
    losses = []
    for _ in range(5):
        optimiser.zero_grad()
        loss = ((net(x) - 1) ** 2).mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses == sorted(losses, reverse=True)
    assert (
        {p.device.type for p in net.parameters()}
        == {p.grad.device.type for p in net.parameters()}
        == {"cuda"}
    )
    assert {p.device.type for p in net.cpu().parameters()} == {"cpu"}


def test_it_is_not_announced() -> None:
    chosen = "cuda" if torch.cuda.is_available() else "cpu"  # how programs choose their device
    assert chosen == "cpu" and torch.cuda.device_count() == 0


def test_the_default_device_can_be_set_for_a_while() -> None:
    with torch.device("cuda"):
        assert torch.ones(2).is_cuda and torch.tensor([1.0]).is_cuda and torch.empty(0).is_cuda
    assert torch.ones(2).is_cpu
