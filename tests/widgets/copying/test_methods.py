"""The catalogue of copy methods and the sources: every line of code in them runs, and makes what it says."""

import itertools
from types import ModuleType
from typing import Any

import pytest
from copylab.copying.methods import METHODS, Method, method
from copylab.copying.sources import DTYPES, LARGEST, Source

import tinytorch


class TestNames:
    @pytest.mark.parametrize(
        ("written", "name"),
        [
            ("clone", "clone"),
            ("x.clone()", "clone"),
            ("torch.Tensor.clone", "clone"),
            ("y = x.clone()", "clone"),
            ("=", "="),
            ("y = x", "="),
            ("data", ".data"),
            ("x.data", ".data"),
            ("x.detach().clone()", "detach().clone()"),
            ("clone().detach()", "clone().detach()"),
            ("copy_", "copy_"),
            ("copy", "copy.copy"),
            ("copy.deepcopy(x)", "deepcopy"),
            ("torch.tensor(x)", "torch.tensor"),
            ("torch.from_numpy", "from_numpy"),
            ("to", "to"),
            ("to(torch.float64)", "to(float64)"),
            ("x[:]", "x[:]"),
            ("slicing", "x[:]"),
        ],
    )
    def test_as_people_write_them(self, written: str, name: str) -> None:
        assert method(written).name == name

    def test_every_method_is_found_by_all_its_names(self) -> None:
        for name, entry in METHODS.items():
            for written in (name, entry.code, f"  {name} ", *entry.also):
                assert method(written) is entry, written

    def test_unknown(self) -> None:
        with pytest.raises(
            ValueError,
            match=r"no copy method 'clon'\. Did you mean 'clone'\? There are: '=', 'clone'",
        ):
            method("clon")
        with pytest.raises(ValueError, match=r"no copy method 'zzz'\. There are"):
            method("zzz")
        with pytest.raises(ValueError, match="no copy method ''"):
            method("")
        with pytest.raises(TypeError, match="named by a string such as 'clone', not by int"):
            method(3)  # type: ignore[arg-type]

    def test_own(self) -> None:
        own = Method("plus", "y = x + 0")
        assert method(own) is own
        assert str(own) == "plus"
        with pytest.raises(ValueError, match="needs a name and code"):
            Method("plus", " ")

    def test_each_says_what_it_is_for(self) -> None:
        for entry in METHODS.values():
            assert entry.note
            assert entry.docs.startswith(("https://docs.pytorch.org/", "https://docs.python.org/"))


class TestSources:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_every_kind(self, engine: ModuleType, dtype: str) -> None:
        if not hasattr(engine, dtype):
            with pytest.raises(AttributeError, match=dtype):
                Source("plain", (3,), dtype).make(engine)
            return
        shapes = [(), (1,), (3,), (2, 3), (2, 2, 2), (4, 5), (300,), (0, 2)]
        for kind, shape, transposed in itertools.product(
            ("leaf", "result", "plain"), shapes, (False, True)
        ):
            try:
                source = Source(kind, shape, dtype, transposed)  # type: ignore[arg-type]
            except ValueError:
                continue
            x = source.make(engine)
            assert tuple(x.shape) == shape
            assert str(x.dtype) == f"torch.{dtype}"
            assert x.requires_grad is source.requires_grad is (kind != "plain")
            assert x.is_leaf is (kind != "result")
            assert x.is_contiguous() is (not transposed or 0 in shape)
            stand_in = Source.of(x)
            y = stand_in.make(engine)
            assert same(x, y), stand_in.code
            assert not stand_in.note

    def test_code_is_what_one_would_write(self) -> None:
        assert Source().code == "x = torch.tensor([1., 2., 3.], requires_grad=True)"
        assert Source("plain", ()).code == "x = torch.tensor(1.)"
        source = Source("result", 2)  # type: ignore[arg-type]
        assert source.code == "a = torch.tensor([1., 2.], requires_grad=True)\nx = a * 2"
        assert Source("plain", (2,), "int64").code == "x = torch.tensor([1, 2])"
        assert Source("leaf", (2, 1), "float64", transposed=True).code == (
            "x = torch.tensor([[1., 2.]], dtype=torch.float64).t().requires_grad_()"
        )
        assert Source("plain", (4, 5)).code == "x = torch.arange(1., 21.).reshape(4, 5)"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"kind": "root"}, "kind must be"),
            ({"dtype": "float31"}, "no source of dtype 'float31'"),
            (
                {"dtype": "int64"},
                "only Tensors of floating point and complex dtype can require gradients",
            ),
            ({"shape": (-1,)}, "sizes of 0 and more"),
            ({"shape": (2.5,)}, "sizes of 0 and more"),
            ({"shape": (LARGEST + 1,)}, "at most 100,000"),
            ({"transposed": True}, "no two dimensions to transpose"),
        ],
    )
    def test_what_cannot_be_built(self, arguments: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Source(**arguments)

    def test_what_people_mean(self) -> None:
        assert Source.of() == Source.of(None) == Source.of("leaf") == Source()
        assert Source.of(Source("plain")) == Source("plain")
        with pytest.raises(ValueError, match=r"give a tensor, or 'leaf'.* not 'lef'"):
            Source.of("lef")
        for wrong in ([1.0, 2.0], 3, tinytorch, tinytorch.Tensor):
            with pytest.raises(TypeError, match="must be a tensor of torch or tinytorch"):
                Source.of(wrong)


def same(x: Any, y: Any) -> bool:
    """Whether two tensors look the same from outside."""
    return str(told(x)) == str(told(y))


def told(x: Any) -> list[Any]:
    seen = [
        tuple(x.shape),
        x.dtype,
        x.device,
        x.requires_grad,
        x.is_leaf,
        x.storage_offset(),
        x.tolist(),
    ]
    return seen if x.numel() == 0 else [*seen, x.stride()]


class TestStandIns:
    def test_every_layout(self, engine: ModuleType) -> None:
        base = engine.arange(12.0).view(3, 4)
        a = engine.tensor([0.1, float("nan"), float("-inf"), -0.0], requires_grad=True)
        for x in (
            base[:, ::2],
            base[1:],
            base[:, 1],
            base.t(),
            base[0, 0],
            engine.tensor([1.0, 2.0]).unsqueeze(1).expand(2, 3),
            (a * 1)[1:],
            a,
            engine.zeros(0, 3),
            engine.tensor([True, False]).expand(3, 2),
            engine.nn.Parameter(engine.ones(2)),
        ):
            before = [str(told(x)), x._version]
            source = Source.of(x)
            assert same(source.make(engine), x), source.code
            assert [str(told(x)), x._version] == before
            assert not source.note
        assert Source.of(engine.ones(2, 1).expand(2, 3)).overlaps
        assert not Source.of(base[:, ::2]).overlaps

    def test_large_ones_are_said_to_differ(self, engine: ModuleType) -> None:
        for x, shape in (
            (engine.zeros(60, 50)[:, ::2], (60, 25)),
            (engine.zeros(50, 40).t(), (40, 50)),
            (engine.zeros(40, 40, dtype=engine.int64), (40, 40)),
            (engine.zeros(40, 40, requires_grad=True) * 1, (40, 40)),
        ):
            source = Source.of(x)
            y = source.make(engine)
            assert source.note == "its memory is long, so the stand-in has other values"
            assert (tuple(y.shape), y.stride(), y.dtype) == (shape, x.stride(), x.dtype)
            assert (y.requires_grad, y.is_leaf) == (x.requires_grad, x.is_leaf)
            assert len(source.code) < 150
        source = Source.of(engine.zeros(2000, 1000).t())
        assert "2,000,000 elements, so the stand-in is smaller" in source.note
        y = source.make(engine)
        assert y.dim() == 2
        assert y.numel() <= 16
        assert not y.is_contiguous()
        far = engine.zeros(1, dtype=engine.float32).expand(1_000_000)
        assert Source.of(far).make(engine).numel() <= 16

    @pytest.mark.torch
    def test_no_strides(self) -> None:
        torch = pytest.importorskip("torch")
        for x in (torch.ones(2).to_sparse(), torch.ones(2, device="meta")):
            with pytest.raises(ValueError, match="must have strides and plain numbers"):
                Source.of(x)

    def test_around_the_call_anything_may_hold(self, engine: ModuleType) -> None:
        engine.set_default_dtype(engine.float64)
        try:
            with engine.no_grad():
                x = Source("result").make(engine)
            assert engine.get_default_dtype() is engine.float64
        finally:
            engine.set_default_dtype(engine.float32)
        assert x.requires_grad
        assert x.dtype is engine.float32
        with engine.inference_mode():
            assert Source().make(engine)._version == 0
