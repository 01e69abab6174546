"""The ops of a graph in numbers, the memory of a run, and the time of its kernels."""
