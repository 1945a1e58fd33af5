# The start of many scripts: seeds, switches and the choice of a device
import os, random
import numpy as np
import torch
def seed_everything(seed):
    random.seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
seed_everything(42)
device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
device
torch.randn(2, 3, device=device)
torch.cuda.device_count(), torch.version.cuda
torch.use_deterministic_algorithms(True)
torch.are_deterministic_algorithms_enabled(), torch.get_deterministic_debug_mode()
torch.use_deterministic_algorithms(True, warn_only=True)
torch.is_deterministic_algorithms_warn_only_enabled(), torch.get_deterministic_debug_mode()
torch.set_deterministic_debug_mode("default")
torch.set_deterministic_debug_mode("loud")
torch.set_deterministic_debug_mode(3)
torch.use_deterministic_algorithms(1)
torch.set_num_threads(1)
torch.get_num_threads()
torch.set_num_threads(0)
torch.set_num_threads("all")
torch.get_float32_matmul_precision()
torch.set_float32_matmul_precision("high")
torch.get_float32_matmul_precision()
torch.set_float32_matmul_precision("highest")
import torch.backends.cudnn as cudnn
cudnn.benchmark, cudnn.is_available(), cudnn.version()
torch.ones(2).to("mps")
torch.ones(2).pin_memory()
x = torch.ones(2)
x.is_mps, x.is_xla, x.is_xpu, x.is_cuda, x.is_cpu
torch.device("mps"), torch.device("xpu:1")
torch.set_default_tensor_type(torch.DoubleTensor)
torch.tensor(1.5).dtype
torch.set_default_tensor_type("torch.FloatTensor")
torch.tensor(1.5).dtype
torch.set_default_tensor_type(torch.LongTensor)
torch.set_default_tensor_type(torch.float64)
