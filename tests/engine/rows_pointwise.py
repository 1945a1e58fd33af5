"""Rows of the op sheet: pointwise operations, comparisons, bits, bounds."""

_USUAL = "+ - * / // % < =="
_BITS = "& | ^"
_ROWS = [
    ("x", "+ - * / // % < <= > >= == !=", "y"), ("x", "+ - * / // % < <= > >= == !=", "1.5"), ("x", _USUAL, "2"),
    ("x", _USUAL, "True"), ("2.5", "+ - * / // % < <= > >= == !=", "p"), ("3", f"{_USUAL} ** {_BITS}", "n"),
    ("i", f"{_USUAL} {_BITS}", "n"), ("i", f"{_USUAL} ** {_BITS}", "3"), ("i", f"{_USUAL} **", "1.5"),
    ("b", f"{_USUAL} ** {_BITS}", "c"), ("b", f"{_USUAL} ** {_BITS}", "2"), ("i", _USUAL, "x"), ("x", "+ - * / // %", "s"),
    ("i", "+ - * / // %", "s"),
]  # fmt: skip
ROWS = [f"{x} {o} {y}" for x, operators, y in _ROWS for o in operators.split()]
ROWS += ["-x", "+x", "abs(x)", "~i", "~b", "~x", "x ** 2", "x ** 3", "p ** 0.5", "p ** -1", "p ** x", "x ** 0", "x ** 1", "2 ** x",
         "0 ** p", "2.5 ** x", "x ** n", "i ** n", "i ** -1", "p ** -2.5"]  # fmt: skip
ROWS += ["torch.add(x, y, alpha=2)", "torch.add(x, y, alpha=0.5)", "torch.sub(x, y, alpha=3)", "torch.add(x, 2, alpha=3)",
         "torch.rsub(x, y, alpha=2)", "torch.rsub(x, 2.5, alpha=2)", "t.add_(y, alpha=2)",
         "t.sub_(y, alpha=0.5)", "torch.add(b, c, alpha=2)", "torch.add(i, j, alpha=2)", "torch.add(i, j, alpha=1.5)",
         "torch.add(2, x)", "torch.mul(2, x)", "torch.div(2, p)", "torch.sub(2, x)"]  # fmt: skip
ROWS += ["b.clone().bitwise_xor_(c)", "i.clone().bitwise_not_()",
         "b.clone().logical_not_()", "torch.bitwise_and(3, i)", "torch.bitwise_and(i, 3)", "torch.bitwise_and(x, y)"]  # fmt: skip
ROWS += ["torch.clamp(x, 0, 1)", "torch.clamp(x, min=0.5)", "torch.clamp(x, max=-0.5)", "torch.clamp(x, 1, -1)",
         "torch.clip(x, -1, 1)",
         "t.clamp_(0, 1)", "t.clamp_(-0.5)",
         "torch.clamp(i, 0, 2)", "torch.clamp(x, y, p)", "torch.clamp(x, max=y)", "torch.clamp(x, y, min=z)", "t.clamp_(y, p)", "torch.clamp(x, y)", "torch.clamp(i, 0.5, 2)", "torch.clamp(x, nan)", "t.clip_(max=1)"]  # fmt: skip
ROWS += ["torch.equal(x, x)", "torch.allclose(x, x)", "1.5 in x", "torch.result_type(x, i)",
         "torch.result_type(x, 2.5)", "torch.result_type(i, 2.5)", "torch.result_type(b, 1)", "x + None", "x + 'a'",
         "torch.add(x, 'a')", "x.add('a')", "torch.maximum(x, 2)", "x.maximum(2)", "torch.eq(x, None)", "x.eq(None)",
         "torch.exp(2.0)", "torch.pow(2, 3)", "x * np.float64(2)", "x + np.array([1.0, 2.0, 3.0])[:1]",
         "x == np.ones(3)"]  # fmt: skip
ROWS += [
    f"torch.div({a}, rounding_mode={mode})"
    for a in ("x, p", "i, n", "x, 2", "i, 2.5")
    for mode in ("None", "'floor'", "'trunc'")
]
ROWS += ["t.div_(p, rounding_mode='floor')", "i.clone().div_(2, rounding_mode='trunc')", "torch.addcmul(x, y, z, value=2)", "torch.lerp(x, y, z)", "x.round(decimals=1)",
         "torch.addcdiv(x, y, p, value=0.5)", "t.addcmul_(y, z)", "t.addcdiv_(y, p, value=2)", "torch.isclose(x, y, 0.1)", "torch.relu_(t)"]  # fmt: skip
