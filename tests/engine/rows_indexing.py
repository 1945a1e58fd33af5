"""Rows of the op sheet: reading and writing by index, mask and scatter."""

_READ = [
    "0 -1 7 None ... () True :1 1: ::2 -1: :-1 5:2 1:0:2 ::-1 0,0 0,0,0 :,0 ...,0 ...,-1 None,0 0,None :,None :,1: ...,1: ...,None",
    "0,...,1 ...,::2 [0] [0,1] [-1,0,0] [True,False] [[0,1],[1,2]] [0,0],[1,2] :,[0,2] [0],None None,[0] ...,[0] [0],...,[0] [0,0],:1 0,[1,1]",
    "[[0],[1]],[0,1] [5] :,[7] [] [0,1],[0,1,2] x>1 x>100 ~(x>0) torch.tensor(0) torch.tensor([1,0]) torch.tensor([[0,1]]) torch.tensor(True)",
    "torch.tensor([1],dtype=torch.int32) torch.tensor([1.]) 1.5 'a' {} x[0]>0 :,torch.tensor(1)",
    "torch.tensor([True,False]) :,torch.tensor([True,False,True]) [0],torch.tensor([True,False,True]) np.array([1,0]) np.int64(1) 0:1,[0,1]",
]

ROWS = [f"x[{index}]" for line in _READ for index in line.split(" ")]

_SET = "(lambda a: (a.__setitem__({}, {}), a)[1])({})"
_INDICES = ("0", "...", "None", "()", "True", "False", "slice(1,None)", "slice(None)", "(slice(None),0)", "[0]", "[0,0]", "([0],[1])",
            "(slice(None),[0,2])", "7", "torch.tensor([1,0])", "torch.tensor([True,False])", "(Ellipsis,0)")  # fmt: skip
_VALUES = (
    "2",
    "1.5",
    "True",
    "torch.tensor(3.)",
    "x[0]",
    "x[:1]",
    "x",
    "x.sum()",
    "torch.ones(7)",
    "None",
    "[1]",
    "torch.tensor(7)",
)
ROWS += [_SET.format(i, v, "t") for i in _INDICES for v in _VALUES if not ("x" in v and i == "7")]
ROWS += [
    _SET.format("x>1", v, "t")
    for v in ("2", "torch.tensor(3.)", "x[x>1]*2", "x.sum()", "torch.ones(9)", "x.sum(0)")
]

_I = "torch.tensor([1,0])"
_G = "torch.tensor([[0,1,1]])"
_BOTH = [
    ("index_put", f"({_I},), x*2"),
    ("index_put", f"({_I},), x.sum(), accumulate=True"), ("index_put", "(torch.tensor([0,0]), torch.tensor([1,1])), x.sum(), True"),
    ("index_put", "(x>1,), torch.tensor(2.)"), ("index_put", f"(None, {_I}), x[..., :2]"),
    ("masked_fill", "x>1, 2"), ("masked_fill", "x>1, x.sum()"),
    ("masked_fill", "(x>1)[:1], 2"), ("masked_fill", "x, 2"),
    ("masked_scatter", "x>0, y"), ("masked_scatter", "(x>0)[:1], y"), ("masked_scatter", "x, y"),
    ("put", f"{_I}, y.take({_I})"), ("put", "torch.tensor([0,0]), y.take(torch.tensor([0,1])), True"),
    ("scatter", f"0, {_G}, x*2"), ("scatter", f"0, {_G}, 2"),
    ("scatter_add", f"0, {_G}, x*2"), ("scatter_add", "-1, torch.tensor([[0,2,1],[1,0,2]]), x*2"), ("scatter_add", "0, torch.tensor([0]), x"),
    *[("scatter_reduce", f"0, {_G}, y, '{how}'{more}") for how in ("sum", "mean", "amax", "prod") for more in ("", ", include_self=False")],
    *[("index_reduce", f"0, {_I}, y[:2], '{how}'{more}") for how in ("mean", "amax", "amin", "prod") for more in ("", ", include_self=False")],
    ("index_reduce", "-1, torch.tensor([1, 1]), y[..., :2], 'prod'"), ("index_reduce", "0, torch.tensor([9, 0]), y, 'mean'"),
    ("index_add", f"0, {_I}, y[:2]"), ("index_add", f"-1, {_I}, y[..., :2], alpha=2"), ("index_add", "0, torch.tensor([9, 0]), y"),
    ("index_copy", f"0, {_I}, y[:2]"), ("index_copy", f"-1, {_I}, y[..., :2]"),
    ("index_fill", f"0, {_I}, 2"), ("index_fill", f"-1, {_I}, x.sum()"),
    ("masked_scatter", "x>1, y"), ("masked_scatter", "(x>1)[:1], y"), ("masked_scatter", "x, y"),
    ("put", f"{_I}, y.flatten()[:2]"), ("put", "torch.tensor([0, 0]), y.flatten()[:2], True"),
    ("scatter", "-1, torch.tensor([[0,2,1],[1,0,2]]), x*2"), ("scatter", "0, torch.tensor([[0,9,1]]), x"), ("scatter", "0, torch.tensor([0]), x"),
]  # fmt: skip
ROWS += [f"x.{name}({arguments})" for name, arguments in _BOTH] + [
    f"t.{name}_({arguments})" for name, arguments in _BOTH
]
ROWS += [f"torch.{call}" for call in (
    f"gather(x, 0, {_G})", "gather(x, -1, torch.tensor([[0,2],[1,1]]))", "gather(x, 0, torch.tensor([[9,0,0]]))",
    "index_select(x, 0, torch.tensor([1,0,1]))", "index_select(x, -1, torch.tensor(1))", "index_select(x, 0, torch.tensor([9]))",
    "masked_select(x, x>1)", "masked_select(x, y>1)", "masked_select(x, b)", "take(x, torch.tensor([[0,-1],[1,1]]))", "take(x, torch.tensor([99]))",
    "where(x>1, x, y)", "where(x>1, x, 0)", "where(x>1, 1.5, x)", "where(x>1, 1, 2)", "where(b, x, y)",
    "where(b, x, s)", "where(x>1)", "where(b, i, 1.5)", "where(b, i, x)", "nonzero(b)",
    "nonzero(x, as_tuple=True)", f"index_select(x, 0, {_I})", "index_select(x, -1, torch.tensor([0,0]))",
    "index_select(x, 0, torch.tensor(0))", "index_select(x, 0, torch.tensor([7]))", f"take(x, {_I})", f"take(x, {_G})",
    "take(x, torch.tensor(77))", f"take(i, {_I}, out=torch.empty(0))", "take_along_dim(x, torch.tensor([[-1,9]]), -1)",
    f"take_along_dim(x, {_I})", "masked_select(x, x>0)", "masked_select(x, (x>0)[:1])", "masked_select(x, x)",
)]  # fmt: skip
ROWS = list(dict.fromkeys(ROWS))
