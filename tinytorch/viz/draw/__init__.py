"""Drawing: the memory picture and the graph picture."""
