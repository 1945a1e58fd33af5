"""Rows of the op sheet: reductions, extremes, norms."""

_DIMS = ("", "0", "-1", "1, True", "dim=0, keepdim=True")
_TUPLES = ("(0, 1)", "(0, -1), True", "()", "axis=0, keepdims=True", "2")
ROWS = [f"x.{f}({d})" for f in ("sum", "mean", "any", "all")
        for d in (*_DIMS, *_TUPLES)]  # fmt: skip
ROWS += [f"x.{f}({d})" for f in ("max", "min", "argmax", "argmin") for d in _DIMS]
ROWS += [f"i.{f}({d})" for f in ("sum", "max", "any", "argmax") for d in ("", "0")]
ROWS += ["x.sum(dtype=torch.float64)", "x.sum(0, dtype=torch.float32)", "x.mean(dtype=torch.float64)", "i.sum(dtype=torch.int32)",
         "i.mean()", "i.mean(dtype=torch.float32)", "x.sum(dtype=torch.int64)",
         "i.sum(dtype=torch.float32)", "b.sum()", "b.sum(0)", "b.any(0)", "b.max()", "torch.sum(i, 0, out=torch.empty(0, dtype=torch.int64))",
         "x.max(y)",
         "x.max(0).values", "x.max(0)[0]", "x.max(0).indices", "x.max(other=y)"]  # fmt: skip
ROWS += [f"p.norm({a})" for a in ("", "2", "2, 0", "2, 0, True", "dim=0",
                                  "'fro'", "'fro', (0, 1)")]  # fmt: skip
ROWS += ["x.norm()", "x.norm(2, 0)", "i.norm()", "x.norm(1)", "x.norm(3, 0)", "p.norm(0.5, 1)", "p.norm(1, 0)",
         "p.norm(float('inf'), 0, True)", "p.norm(-float('inf'))", "i.norm(dtype=torch.float64)"]  # fmt: skip
ROWS += ["x.sum('a')", "x.sum(1.5)", "x.sum(foo=1)", "torch.sum()", "x.max('a')", "x.argmax('a')",
         "x.sum((0, 0))", "x.mean(keepdim=True)", "torch.sum([1])",
         "torch.argmax(x, 1.5)"]  # fmt: skip
ROWS += [f"x.{f}({d})" for f in ("cumsum", "cumprod", "prod", "sort", "argsort", "std", "var", "logsumexp")
         for d in ("0", "-1", "2")]  # fmt: skip
ROWS += [
    f"p.{f}({d})"
    for f in ("std", "var")
    for d in ("", "(0, -1)", "0, False", "0, keepdim=True", "correction=0", "dim=-1, correction=2")
]
ROWS += ["x.prod()", "p.prod()", "p.prod(0, True)", "p.cumprod(0)", "i.prod()", "i.cumsum(0)", "b.cumsum(0)", "x.cumsum(0, dtype=torch.float64)",
         "x.logsumexp((0, -1))", "x.logsumexp(0, True)", "x.sort(0, True)", "torch.sort(x, stable=True)",
         "p.topk(1)", "p.topk(1, 0, False)", "x.topk(9)", "i.std()"]  # fmt: skip
# Sums of many small numbers need more digits than they have; a write meets each cell once.
ROWS += ["torch.ones(1).expand(3).cumsum_(0)", "torch.ones(1).expand(3).cumprod_(0)", "torch.full((1000,), 0.1).cumsum(0)[-1].item()",
         "torch.zeros(1).half().scatter_add_(0, torch.zeros(3000, dtype=torch.int64), torch.full((3000,), 0.1).half())"]  # fmt: skip
