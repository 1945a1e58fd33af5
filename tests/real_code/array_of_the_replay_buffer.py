# What happens: samples are made by from_numpy over a buffer that is refilled.
# Reported: mrdbourke/pytorch-deep-learning#83
# Call: shared(buffer, samples)
# Says: see the same 6 cells
import numpy as np
import torch

buffer = np.zeros((2, 3), dtype=np.float32)
samples = torch.from_numpy(buffer)
buffer[:] = 7
assert samples.sum() == 42
