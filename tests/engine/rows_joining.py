"""Rows of the op sheet: tensors put together, repeated, turned."""

ROWS = ["torch.cat([x, y])", "torch.cat([x, y], 1)", "torch.cat((x, y, x), -1)", "torch.cat([x, i])", "torch.cat([x])", "torch.cat([x, torch.zeros(0)])",
        "torch.concat([x, y], dim=1)", "torch.concatenate([x, y], axis=0)", "torch.cat([i, b])", "torch.cat([i, j], out=torch.empty(0, dtype=torch.int64))",
        "torch.cat([x, y], 3)", "torch.cat([])", "torch.cat([x, 1])", "torch.cat(x, y)", "torch.cat([x, x[:1]])",
        "torch.stack([x, y])", "torch.stack([x, y], 1)", "torch.stack((x, y), -1)", "torch.stack([x, i])", "torch.stack([])", "torch.stack([x, v])",
        "torch.stack([x, y], 5)"]  # fmt: skip
ROWS += ["x.repeat(2)", "x.repeat(2, 1)", "x.repeat(1, 2, 1)", "x.repeat((2, 1, 3))", "x.repeat(0, 1)", "x.repeat(1, 1)", "x.repeat()",
         "i.repeat(2, 1)"]  # fmt: skip
ROWS += ["x.flip(0)", "x.flip(-1)", "x.flip(0, 1)", "x.flip((0, -1))", "x.flip(())", "x.flip()", "x.flip(5)", "x.flip((0, 0))", "torch.flip(x, [0])",
         "x.flip('a')", "x.roll(1)", "x.roll(-2)", "x.roll(1, 0)", "x.roll((1, 2), (0, 1))", "x.roll(shifts=1, dims=-1)"]  # fmt: skip
ROWS += ["torch.hstack([x, y])", "torch.hstack((s, x))", "torch.hstack([])", "torch.vstack([x, y])", "torch.dstack([x, y])",
         "torch.column_stack([x, s])", "torch.column_stack([s, v])", "torch.hstack([i, i], out=torch.empty(0, dtype=torch.int64))",
         "torch.block_diag(x)", "torch.block_diag(v, x, i)", "torch.cartesian_prod(x)", "torch.cartesian_prod(v, v)"]  # fmt: skip
ROWS += ["x.tile(2)", "x.tile((2, 1, 1))", "x.tril(1)", "t.tril_(1)", "torch.triu(i, 1, out=torch.empty(0, dtype=torch.int64))",
         "x.rot90()", "x.rot90(-1, (0, -1))", "x.rot90(2)", "x.rot90(4)", "x.rot90(1, (0, 0))", "x.diag(1)", "v.diag(-1)",
         "torch.diagonal_copy(x, 1)", "x.diag_embed(1, 0, -1)", "x.diag_embed(0, 1, 1)", "x.diagflat(-1)"]  # fmt: skip
ROWS += ["x.select_scatter(y.select(0, 0), 0, 0)", "x.select_scatter(y, 0, 0)", "x.slice_scatter(y[..., ::2], -1, step=2)",
         "x.diagonal_scatter(y.diagonal(1), 1)"]  # fmt: skip
ROWS += ["x.repeat_interleave(2)", "x.repeat_interleave(2, -1, output_size=6)", "x.repeat_interleave(torch.tensor([2, 0]), 0)",
         "x.repeat_interleave(torch.tensor([2]), -1)", "x.repeat_interleave('a')", "torch.repeat_interleave(n.long())"]  # fmt: skip
