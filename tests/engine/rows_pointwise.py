"""Rows of the op sheet: pointwise operations, comparisons, bits, bounds."""

_ANY = ("floor ceil round trunc square sgn sign abs absolute neg negative relu sin cos tanh "
        "exp expm1 sigmoid nan_to_num isnan isinf isfinite "
        "logical_not bitwise_not positive")  # fmt: skip
_POSITIVE = "log log1p sqrt rsqrt reciprocal"
_NO_IN_PLACE = {"isnan", "isinf", "isfinite", "positive"}

ROWS = [f"torch.{n}(x)" for n in _ANY.split()]
ROWS += [f"torch.{n}(p)" for n in _POSITIVE.split()]
ROWS += [f"p.clone().{n}_()" for n in _POSITIVE.split()]
ROWS += [f"t.{n}_()" for n in _ANY.split() if n not in _NO_IN_PLACE]
ROWS += ["torch.exp(x, out=torch.empty(0))"]
ROWS += ["torch.round(x, decimals=1)", "torch.round(x, decimals=-1)", "t.round_(decimals=1)",
         "torch.nan_to_num(x, 1.0, 2.0, -2.0)"]  # fmt: skip

_BINARY = "add sub mul div true_divide floor_divide remainder fmod maximum minimum atan2 " \
          "eq ne lt le gt ge isclose logical_and logical_or logical_xor rsub"  # fmt: skip
_OPERATORS = "+ - * / // % < <= > >= == !="
ROWS += [f"torch.{n}(x, y)" for n in _BINARY.split()]
ROWS += [f"x {o} y" for o in _OPERATORS.split()]
ROWS += [f"x {o} 2" for o in _OPERATORS.split()]
ROWS += [f"x {o} 1.5" for o in _OPERATORS.split()]
ROWS += [f"x {o} True" for o in _OPERATORS.split()]
ROWS += [f"2.5 {o} p" for o in _OPERATORS.split()]
ROWS += [f"3 {o} n" for o in ["+", "-", "*", "/", "//", "%", "<", "==", "**", "&", "|", "^", "<<", ">>"]]
ROWS += [f"i {o} n" for o in ["+", "-", "*", "/", "//", "%", "<", "==", "&", "|", "^", "<<", ">>"]]
ROWS += [f"i {o} 3" for o in ["+", "-", "*", "/", "//", "%", "<", "==", "**", "&", "|", "^", "<<", ">>"]]
ROWS += [f"i {o} 1.5" for o in ["+", "-", "*", "/", "//", "%", "<", "==", "**"]]
ROWS += [f"b {o} c" for o in ["+", "-", "*", "/", "//", "%", "<", "==", "&", "|", "^", "<<", ">>", "**"]]
ROWS += [f"b {o} 2" for o in ["+", "-", "*", "/", "//", "%", "<", "==", "&", "|", "^", "<<", ">>", "**"]]
ROWS += [f"i {o} x" for o in ["+", "-", "*", "/", "//", "%", "<", "=="]]
ROWS += [f"x {o} s" for o in ["+", "-", "*", "/", "//", "%"]]
ROWS += [f"i {o} s" for o in ["+", "-", "*", "/", "//", "%"]]
ROWS += ["-x", "+x", "abs(x)", "~i", "~b", "~x", "x ** 2", "x ** 3", "p ** 0.5", "p ** -1", "p ** x", "x ** 0", "x ** 1", "2 ** x",
         "0 ** p", "2.5 ** x", "x ** n", "i ** n", "i ** -1", "p ** -2.5", "torch.pow(p, y)"]  # fmt: skip
ROWS += [
    f"t.{n}_(y)"
    for n in [
        "add",
        "sub",
        "mul",
        "div",
        "fmod",
        "remainder",
        "floor_divide",
        "atan2",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "logical_and",
        "logical_or",
        "logical_xor",
    ]
]
ROWS += [f"t.{n}_(2.5)" for n in ["add", "sub", "mul", "div", "fmod", "remainder", "floor_divide", "eq", "pow"]]
ROWS += [
    f"t.{n}_(2)"
    for n in ["add", "sub", "mul", "div", "fmod", "remainder", "floor_divide", "ge", "le", "gt", "lt", "ne", "pow"]
]
ROWS += ["torch.add(x, y, alpha=2)", "torch.add(x, y, alpha=0.5)", "torch.sub(x, y, alpha=3)", "torch.add(x, 2, alpha=3)",
         "torch.rsub(x, y, alpha=2)", "torch.rsub(x, 2)", "torch.rsub(x, 2.5, alpha=2)", "t.add_(y, alpha=2)",
         "t.sub_(y, alpha=0.5)", "torch.add(b, c, alpha=2)", "torch.add(i, j, alpha=2)", "torch.add(i, j, alpha=1.5)",
         "torch.add(2, x)", "torch.mul(2, x)", "torch.div(2, p)", "torch.sub(2, x)", "torch.true_divide(x, 2)"]  # fmt: skip
ROWS += [f"torch.div({a}, rounding_mode={m!r})" for a in ("x, p", "i, n", "x, 2", "i, 3", "x, 0.3")
         for m in ("floor", "trunc", None)]  # fmt: skip
ROWS += ["t.div_(p, rounding_mode='floor')", "t.div_(2, rounding_mode='trunc')", "torch.div(x, y, rounding_mode='up')"]
ROWS += ["torch.remainder(x, 2)", "torch.remainder(5, p)", "torch.fmod(x, 2)", "torch.fmod(i, 3)",
         "torch.bitwise_and(i, j)", "torch.bitwise_or(i, 2)", "torch.bitwise_xor(3, i)",
         "torch.bitwise_left_shift(i, n)", "torch.bitwise_right_shift(i, n)", "i.bitwise_and_(j)", "i.clone().bitwise_or_(5)",
         "b.clone().bitwise_xor_(c)", "i.clone().bitwise_not_()", "b.clone().logical_not_()", "torch.bitwise_and(x, y)"]  # fmt: skip
ROWS += ["torch.clamp(x, 0, 1)", "torch.clamp(x, min=0.5)", "torch.clamp(x, max=-0.5)", "torch.clamp(x, 1, -1)",
         "torch.clip(x, -1, 1)", "torch.clamp(x, y, z)", "torch.clamp(x, min=y)", "torch.clamp(x, max=y)", "torch.clamp(x)",
         "torch.clamp(x, y, 1.0)", "torch.clamp_min(x, 0)", "torch.clamp_max(x, 0)", "torch.clamp_min(x, y)",
         "torch.clamp_max(x, y)", "t.clamp_(0, 1)", "t.clamp_(-0.5)", "t.clamp_(y, z)", "t.clamp_min_(0)", "t.clamp_max_(y)",
         "torch.clamp(i, 0, 2)", "torch.clamp(i, 0.5, 2)", "torch.clamp(x, nan)", "t.clip_(max=1)"]  # fmt: skip
ROWS += ["torch.lerp(x, y, 0.25)", "torch.lerp(x, y, 0.75)", "torch.lerp(x, y, u)", "t.lerp_(y, 0.3)", "t.lerp_(y, u)",
         "torch.addcmul(x, y, z)", "torch.addcmul(x, y, z, value=2)", "torch.addcdiv(x, y, p)",
         "torch.addcdiv(x, y, p, value=0.5)", "t.addcmul_(y, z, value=-1)", "t.addcdiv_(y, p)",
         "torch.addcmul(i, j, n)"]  # fmt: skip
ROWS += ["torch.equal(x, y)", "torch.equal(x, x)", "torch.allclose(x, y)", "torch.allclose(x, x)",
         "torch.isclose(x, y, rtol=0.5, atol=0.5)", "torch.isclose(i, j)", "1.5 in x", "torch.result_type(x, i)",
         "torch.result_type(x, 2.5)", "torch.result_type(i, 2.5)", "torch.result_type(b, 1)", "x + None", "x + 'a'",
         "torch.add(x, 'a')", "x.add('a')", "torch.maximum(x, 2)", "x.maximum(2)", "torch.eq(x, None)", "x.eq(None)",
         "torch.exp(2.0)", "torch.pow(2, 3)", "x * np.float64(2)", "x + np.array([1.0, 2.0, 3.0])[:1]",
         "x == np.ones(3)"]  # fmt: skip
