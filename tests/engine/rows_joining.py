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
