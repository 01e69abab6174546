"""A program that runs every case of cases.py on the default device, with its gradients, and those of cuda_fused.py, and
looks at no result. On an imitated GPU that keeps texts (tests/imitated_cuda), all texts are in the folder then."""

import numpy as np
from cuda_fused import compiled_chains, compiled_products, compiled_rows, compiled_updates

import alloy as al
from cases import all_cases, sample


def run(case, dtype):
    graph = al.Graph()
    arrays = sample(case, dtype, np.random.default_rng(0))
    feeds = [graph.placeholder(array.shape, array.dtype) for array in arrays]
    result = case.build(*feeds)
    wanted = [
        feed
        for i, feed in enumerate(feeds)
        if feed.dtype == result.dtype == "float32" and (case.wanted is None or i in case.wanted)
    ]
    gradients = al.gradients(al.sum(result * 2.0), wanted) if wanted else []
    graph.compile(feeds, [result, *gradients])(*arrays)


if __name__ == "__main__":
    seen = set()
    for case in all_cases():
        # The other types are cast from and to these, and all casts are cases.
        first = case.op in ("cast", "bitcast") or case.op not in seen
        for dtype in case.dtypes:
            if dtype == case.dtypes[0] or (first and dtype in ("float16", "int32", "int64", "uint64", "bool")):
                run(case, dtype)
        seen.add(case.op)
    step, arrays = compiled_rows()
    step(*sum(arrays, []))
    step, arrays = compiled_products("bfloat16", lambda x: [al.relu(x)])
    step(*sum(arrays, []))
    step, arrays, _ = compiled_chains()
    step(*sum(arrays, []))
    step, arrays, _ = compiled_updates()
    step(*arrays)
