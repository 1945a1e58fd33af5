"""Rows of the op sheet: reductions, extremes, cumulative operations, sorting."""

_DIMS = ("", "0", "-1", "1, True", "dim=0, keepdim=True")
_TUPLES = ("(0, 1)", "(0, -1), True", "()", "axis=0, keepdims=True", "2")
ROWS = [f"x.{f}({d})" for f in ("sum", "mean", "amax", "amin", "std", "var", "any", "all")
        for d in (*_DIMS, *_TUPLES)]  # fmt: skip
ROWS += [f"p.prod({d})" for d in _DIMS]
ROWS += [f"x.{f}({d})" for f in ("max", "min", "argmax", "argmin") for d in _DIMS]
ROWS += [f"i.{f}({d})" for f in ("sum", "prod", "max", "any", "argmax", "amin") for d in ("", "0")]
ROWS += ["x.sum(dtype=torch.float64)", "x.sum(0, dtype=torch.float32)", "x.mean(dtype=torch.float64)", "i.sum(dtype=torch.int32)",
         "i.mean()", "i.mean(dtype=torch.float32)", "x.prod(dtype=torch.float64)", "x.sum(dtype=torch.int64)",
         "i.sum(dtype=torch.float32)", "b.sum()", "b.sum(0)", "b.any(0)", "b.max()", "b.prod(0)", "torch.sum(i, 0, out=torch.empty(0, dtype=torch.int64))",
         "x.max(y)",
         "x.max(0).values", "x.max(0)[0]", "x.max(0).indices", "x.max(other=y)"]  # fmt: skip
ROWS += ["x.std(unbiased=False)", "x.var(0, unbiased=False)", "x.std(0, False)", "x.std(dim=0, correction=0)", "x.var(correction=2)",
         "x.std(False)", "x.var((0, 1), correction=0.5)", "torch.std(x, dim=1, correction=1)"]  # fmt: skip
ROWS += [f"p.norm({a})" for a in ("", "1", "2", "inf", "-inf", "2, 0", "1, 0, True", "dim=0",
                                  "'fro'", "'fro', (0, 1)", "inf, 0")]  # fmt: skip
ROWS += ["x.norm()", "x.norm(1)", "x.norm(inf)", "x.norm(1, 0)", "x.norm(2, 0)", "i.norm()", "x.norm(p='nucular')"]  # fmt: skip
ROWS += [f"x.cumsum({a})" for a in ("0", "-1", "1", "2")]
ROWS += ["i.cumsum(0)", "b.cumsum(0)", "x.cumsum(0, dtype=torch.float64)", "i.cumsum(0, dtype=torch.int32)"]  # fmt: skip
ROWS += [
    f"x.sort({a})"
    for a in ("", "0", "-1, True", "dim=0, descending=True", "stable=True", "stable=True, dim=0, descending=True", "3")
]
ROWS += [f"x.argsort({a})" for a in ("", "0", "-1, True", "descending=True", "dim=0, stable=True")]
ROWS += [f"x.topk({a})" for a in ("1", "2", "1, 0", "2, -1, False", "1, largest=False", "2, sorted=False", "9", "0")]
ROWS += ["i.sort(0)", "b.sort(0)", "i.topk(2)", "x.sort()[0]", "x.topk(1)[0].sum()"]
ROWS += ["x.sum('a')", "x.sum(1.5)", "x.sum(foo=1)", "torch.sum()", "x.max('a')", "x.argmax('a')", "x.prod((0, 1))", "x.cumsum()",
         "x.cumsum('a')", "x.sum((0, 0))", "x.amax((0, 0))", "x.mean(keepdim=True)", "x.topk('a')", "x.sort('a')", "torch.sum([1])",
         "torch.argmax(x, 1.5)", "x.std(0, unbiased=True, correction=1)"]  # fmt: skip
