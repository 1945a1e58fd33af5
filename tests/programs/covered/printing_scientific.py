"""When numbers are written with an exponent."""
import torch

for v in ([1e-5], [1e-4, 1], [1e5], [1e8], [1.1e8], [1, 1000], [1, 1001], [0.5, 1000.5], [0.0001, 1], [0.00009, 1], [1.5, float("nan")], [float("inf"), 1], [float("inf"), 1.5], [float("nan")], [1e10, 1], [123456.], [1234567.5], [-1e-10, 0], [0., 0.], [1e-45], [3.4e38], [99999999.], [16777216., 0.5], [1/3, 2/3, 1e3], [-1, 10], [-0.5, 100]):
    print(torch.tensor(v), torch.tensor(v, dtype=torch.float64))

torch.tensor(1e-5), torch.tensor(123456789.), torch.tensor(0.1 + 0.2, dtype=torch.float64), torch.tensor(1e20, dtype=torch.float64)
torch.tensor([10**10, 1]), torch.tensor([-1, 100]), torch.tensor([10**18])
torch.tensor([65504., 1e-7], dtype=torch.float16), torch.tensor([0.1, 2], dtype=torch.float16)
