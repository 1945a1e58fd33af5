"""Rows of the op sheet: views, splits, and view operations in place."""

_AS_METHODS = [
    "view(-1) reshape(-1) reshape(3,-1) flatten() flatten(1) flatten(0,1) ravel() view_as(x)",
    "view(1,-1) t() transpose(0,1) transpose(-1,0) permute(1,0) permute((-1,0))",
    "T mT squeeze() squeeze(0) squeeze(-1) squeeze((0,1))",
    "unsqueeze(0) unsqueeze(-1) unsqueeze(1) expand(2,3) expand(4,2,3) expand(-1,-1) expand(2,-1,3) expand(0,3)",
    "expand_as(x) broadcast_to((2,2,3)) narrow(0,0,1) narrow(-1,1,2) narrow(0,-1,1) narrow(0,1,5) select(0,0)",
    "select(-1,-1) select(1,1) select(0,7) diagonal() diagonal(1) diagonal(-1) diagonal(0,-1,0) diagonal(0,0,0)",
    "as_strided((2,2),(0,0))",
    "as_strided((2,),(2,),1) as_strided((),()) as_strided((9,9),(9,9)) unbind() unbind(-1) split(1) split(2,-1)",
    "split([1,1]) split(0) chunk(2) chunk(2,-1) chunk(5,1) chunk(0)",
    "view(2,-1) view(-1,-1) view(7) reshape(-2,3)",
]

ROWS = [f"x.{call}" for line in _AS_METHODS for call in line.split()]
ROWS += [f"t.{call}" for call in (
    "t_()", "transpose_(0,1)", "transpose_(-1,0)", "unsqueeze_(0)", "unsqueeze_(-1)", "squeeze_()", "squeeze_(0)",
    "squeeze_((0,-1))", "as_strided_((2,),(1,))",
)]  # fmt: skip
ROWS += [f"x.view(torch.{d})" for d in ("int32", "int64", "uint8", "float64", "float16")]
ROWS += [f"x.{call}" for call in (
    "movedim(0, 1)", "movedim((0, 1), (-1, 0))", "movedim((0, 0), (1, 0))", "movedim((0, 1), (1,))", "moveaxis('a', 0)",
    "unfold(0, 2, 1)", "unfold(-1, 2, 2)", "unfold(0, 0, 2)", "unfold(0, 9, 1)", "unfold(0, 1, 0)",
    "unflatten(0, (1, -1))", "unflatten(-1, (3, 1))", "unflatten(0, (3, 3))", "unflatten(0, ())",
    "swapaxes(0, -1)", "H", "mH", "real", "reshape_as(x.t())", "tensor_split(3, -1)", "tensor_split((1, 0, 5), -1)",
    "tensor_split(torch.tensor([1, 2]))", "tensor_split(torch.tensor(2))", "tensor_split(0)", "tensor_split('a')",
    "hsplit(3)", "vsplit((1,))", "dsplit(2)", "split_with_sizes((1, 1))", "narrow(0, torch.tensor(0), 1)",
    "narrow(0, torch.tensor([0]), 1)", "narrow_copy(-1, 1, 2)", "narrow_copy(0, -1, 1)", "narrow_copy(0, 1, 9)",
)]  # fmt: skip
ROWS += ["t.swapaxes_(0, -1)", "torch.atleast_1d(x)", "torch.atleast_2d(x)", "torch.atleast_3d(x, s)", "torch.atleast_1d(1)",
         "torch.broadcast_tensors(x, s)", "torch.broadcast_tensors(x, v)", "torch.meshgrid(v, s, indexing='ij')",
         "torch.meshgrid(s, v, v, indexing='xy')", "torch.meshgrid([v, v], indexing='a')"]  # fmt: skip
