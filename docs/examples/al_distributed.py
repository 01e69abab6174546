"""Examples of several processes, one for each name. Each also runs in one process, of rank 0 and size 1."""

import numpy as np

import alloy as al

# al.distributed.Optimizer
g = al.Graph()
w = g.variable([1.0], name="w")
step = g.compile(updates=al.distributed.Optimizer(al.SGD(0.1)).minimize(al.sum(2 * w)))
step()
assert np.allclose(w.numpy(), 0.8)  # the same in all processes

# al.distributed.all_reduce
total = al.distributed.all_reduce({"correct": 7.0, "count": 10})
assert total == {"correct": 7.0 * al.distributed.size(), "count": 10 * al.distributed.size()}

# al.distributed.barrier
if al.distributed.rank() == 0:
    np.save("shared.npy", np.arange(3))
al.distributed.barrier()  # now the file is there for all processes
assert np.load("shared.npy").tolist() == [0, 1, 2]

# al.distributed.broadcast
seed = al.distributed.broadcast(np.int32(al.distributed.rank() + 5))
assert seed == 5  # of the process with rank 0, in all processes

# al.distributed.rank
assert 0 <= al.distributed.rank() < al.distributed.size()

# al.distributed.size
data = al.data.from_arrays(np.arange(10, dtype="int32"))
share = data.shard(al.distributed.rank(), al.distributed.size())
assert len(share) >= 10 // al.distributed.size()
