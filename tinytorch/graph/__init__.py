"""The autograd graph: nodes, saved tensors, how history is written and rewritten, and how backward walks it."""
