"""Reading tensors of any engine into plain data."""
