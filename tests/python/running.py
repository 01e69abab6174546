"""Ways in which tests run things: functions of tensors on arrays, threads beside each other, programs of their own."""

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import alloy as al


def run(build, *arrays, shapes=None):
    """Returns the values of what build gives, a tensor or several, for placeholders of the arrays."""
    graph = al.Graph()
    shapes = shapes or [np.shape(array) for array in arrays]
    feeds = [graph.placeholder(shape, array.dtype) for shape, array in zip(shapes, arrays)]
    results = build(*feeds)
    return graph.compile(feeds, results if isinstance(results, (list, tuple)) else [results])(*arrays)


def value_of(tensor, *feeds_and_arrays):
    return tensor.graph.compile(list(feeds_and_arrays[::2]), [tensor])(*feeds_and_arrays[1::2])[0]


def at_once(work, arguments):
    """Calls work(argument) for each, on a thread of its own, and returns the results."""
    arguments = list(arguments)
    with ThreadPoolExecutor(len(arguments)) as threads:
        return list(threads.map(work, arguments))


def program(code, *arguments, seconds=60, **options):
    """Runs code as a program of its own, and returns its status and its texts."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, **options)


def check_ends(programs):
    """Runs programs beside each other, which all must end with the word "end" and nothing else."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    for process in [subprocess.Popen([sys.executable, "-c", code + "\nprint('end')"], **pipes) for code in programs]:
        output, errors = process.communicate(timeout=30)
        assert (process.returncode, output, errors) == (0, "end\n", ""), process.args[-1]
