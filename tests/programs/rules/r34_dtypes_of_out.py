"""`out=` of another dtype: what converts, what is computed in its dtype, and what refuses."""
import torch

x = torch.tensor([[1.0, 2.0], [3.0, -4.0]])


def into(name, dtype, *rest):
    out = torch.empty(0, dtype=dtype)
    try:
        getattr(torch, name)(*rest, out=out)
        return out.tolist(), out._version
    except Exception as e:
        return f"{type(e).__name__}: {e}"


def all_three(name, *rest):
    for dtype in (torch.float64, torch.int64, torch.bool):
        print(name, dtype, into(name, dtype, *rest))


for name in ("abs", "neg", "round", "floor", "sign", "exp", "nan_to_num", "isposinf"):
    all_three(name, x)

all_three("clamp", x, 0, 1)
all_three("clamp", x, x, x)
for name in ("sum", "prod", "cumsum", "cumprod", "any", "softmax", "log_softmax", "logcumsumexp"):
    all_three(name, x, 0)

all_three("mm", x, x)
all_three("matmul", x, x)
all_three("matmul", x[0], x[0])
all_three("cat", [x, x])
