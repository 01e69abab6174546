"""Examples of graphs, saving and devices, one for each name."""

import pathlib
import subprocess

import numpy as np
import safetensors.numpy

import alloy as al

# al.Graph
g = al.Graph()
x = g.placeholder((None, 2), name="x")
assert g.run(x * 2, {x: [[1, 2]]}).tolist() == [[2, 4]]

# al.Tensor
x = al.Graph().placeholder((None, 2), name="x")
assert isinstance(x, al.Tensor) and x.shape == (None, 2) and x.dtype == "float32" and x.name == "x"
assert x[:, 0].shape == (None,) and (x + 1).sum(axis=1).shape == (None,)

# al.Variable
w = al.Graph().variable([1.0, 2.0], name="w")
w.assign(np.float32([3, 4]))
assert isinstance(w, al.Variable) and w.numpy().tolist() == [3, 4]

# al.Executable
g = al.Graph()
x, total = g.placeholder(()), g.variable(0.0)
step = g.compile(feeds=[x], fetches=[total + x], updates=[g.assign(total, total + x)])
assert isinstance(step, al.Executable)
assert [step(n)[0] for n in (1, 2, 3)] == [1, 3, 6]

# al.Submission
g = al.Graph()
x = g.placeholder((2,))
submission = g.compile([x], [x * 2]).submit([1, 2])  # returns at once
assert isinstance(submission, al.Submission) and submission[0].tolist() == [2, 4]  # reading waits

# al.Pending
g = al.Graph()
x = g.placeholder((2,))
double = g.compile([x], [x * 2])
pending = double.submit([1, 2]).pending(0)  # stays on the device
assert isinstance(pending, al.Pending) and double.submit(pending)[0].tolist() == [4, 8]

# al.Queue
g = al.Graph()
x = g.placeholder((2,))
queue = al.Queue()
assert g.compile([x], [x * 2]).submit([1, 2], queue=queue)[0].tolist() == [2, 4]

# al.Event
g, event = al.Graph(), al.Event()
x = g.placeholder((2,))
g.compile([x], [x * 2]).submit([1, 2], signal=(event, 1))
assert event.wait(1) and event.value == 1  # the step is over

# al.Update
g = al.Graph()
count = g.variable(0)
update = g.assign(count, count + 1)
assert isinstance(update, al.Update) and update.variable == count
g.compile(updates=[update])()
assert count.numpy() == 1

# al.Op
g = al.Graph()
x = g.placeholder((4, 3))
(op,) = [op for op in g.inspect([x], [x @ np.ones((3, 2), "float32")]) if op.kind == "matmul"]
assert isinstance(op, al.Op) and op.shapes == [(4, 2)] and op.flops == 2 * 4 * 3 * 2

# al.gradients
g = al.Graph()
x = g.placeholder((2,))
(slope,) = al.gradients(al.sum(x * x), [x])
assert g.run(slope, {x: [3, 5]}).tolist() == [6, 10]

# al.empty
batch = al.empty((128, 32, 32, 3))
batch[:] = 0.5  # a step reads it in place
assert batch.shape == (128, 32, 32, 3) and batch.ctypes.data % 4096 == 0

# al.load_op_library, al.OpLibrary
pathlib.Path("twice.c").write_text("""
#include <alloy/op_library.h>
static int rule(const AlloyTensor* in, AlloyTensor* out, char* message) { out[0] = in[0]; return 0; }
static int twice(const AlloyTensor* in, AlloyTensor* out, char* message) {
  for (int64_t i = 0; i < in[0].extents[0]; ++i) ((float*)out[0].data)[i] = 2 * ((float*)in[0].data)[i];
  return 0;
}
static const AlloyOp ops[] = {{"twice", "2 x, of a vector.", 1, 1, rule, twice, 0}};
static const AlloyOpLibrary library = {ALLOY_OP_LIBRARY_VERSION, 1, "doubling", ops};
const AlloyOpLibrary* alloy_op_library(void) { return &library; }
""")
subprocess.run(["cc", "-shared", "-fPIC", f"-I{al.OpLibrary.include}", "twice.c", "-o", "twice.so"], check=True)
ops = al.load_op_library("./twice.so")
g = al.Graph()
assert g.run(ops.twice(g.constant([1.0, 2.0]))).tolist() == [2, 4]

# al.save, al.load
model, other = al.nn.Dense(1), al.nn.Dense(1, seed=1)
for each in (model, other):
    each(al.Graph().placeholder((None, 2)))  # the first call makes the variables
al.save(model, "model.safetensors")
al.load(other, "model.safetensors")
assert (other.weights.numpy() == model.weights.numpy()).all()

# al.state
model = al.nn.Dense(1)
model(al.Graph().placeholder((None, 2)))
before = al.state(model)
model.weights.assign([[5], [5]])
al.load(model, before)
assert (model.weights.numpy() == before["dense_0/weights"]).all()

# al.load_torch
module = {"0.weight": np.float32([[1, 2, 3]]), "0.bias": np.float32([4])}  # of torch.nn.Sequential(Linear(3, 1))
safetensors.numpy.save_file(module, "module.safetensors")
model = al.nn.Sequential(al.nn.Dense(1))
model(al.Graph().placeholder((None, 3)))
al.load_torch(model, "module.safetensors")
assert model.layers[0].weights.numpy().tolist() == [[1], [2], [3]]

# al.load_executable, al.LoadedExecutable
g = al.Graph()
x = g.placeholder((None, 2), name="x")
g.compile([x], [x * 2]).export("double.mpsgraphpackage")
double = al.load_executable("double.mpsgraphpackage")  # in another program
assert isinstance(double, al.LoadedExecutable) and double.feeds[0].shape == (None, 2)
assert double(np.float32([[1, 2]]))[0].tolist() == [[2, 4]]

# al.draw
model = al.nn.Sequential(al.nn.Dense(8, activation="relu"), al.nn.Dense(3))
model(al.Graph().placeholder((None, 4)))
al.draw(model, "model.svg")
assert "dense_0" in pathlib.Path("model.svg").read_text()

# al.device
assert al.device() == al.devices()[0]
assert al.device(al.device().kind) == al.device()

# al.devices
for device in al.devices():
    print(device.kind, device.name)
g = al.Graph(device=al.devices()[0].name)
assert g.run(g.constant(1.0) + 1) == 2

# al.set_memory_limit
al.set_memory_limit(2 * 1024**3)  # bytes
al.set_memory_limit(None)
assert al.Graph().variable(np.zeros(4, "float32")).numpy().size == 4

# al.set_threads, al.threads
if al.threads() is not None:  # Apple's devices do not tell
    before = al.threads()
    al.set_threads(1)
    assert al.threads() == 1
    al.set_threads(before)

# al.Device
device = al.device()
assert isinstance(device, al.Device) and device.memory > 2**20

# al.DeviceError
try:
    print(al.device().name)
except al.DeviceError:
    print("This machine has no device.")
assert issubclass(al.DeviceError, RuntimeError)

# al.stats
before = al.stats()
g = al.Graph()
g.run(g.constant(1.0) + 1)
assert al.stats()["compilations"] == before["compilations"] + 1

# al.device_stats
found = al.device_stats()
assert found is None or found["launches"] >= 0  # Apple's devices keep no counts

# al.op_table
(relu,) = [op for op in al.op_table() if op["name"] == "relu"]
assert relu["operands"] == (1, 1)  # at least and at most

# al.float32
x = al.Graph().placeholder((3,), al.float32)  # or "float32", or np.float32
assert x.dtype == al.float32 and x.dtype == np.float32 and x.dtype == "float32"

# al.float16
g = al.Graph()
x = g.constant([1 / 3, 1e5])
assert g.run(al.cast(x, al.float16)).tolist() == [np.float16(1 / 3), np.inf]

# al.bfloat16
g = al.Graph()
x = g.constant([1.0, 257.0])
assert g.run(al.cast(x, al.bfloat16)).astype("float32").tolist() == [1, 256]  # 257 has 9 significant bits

# al.int8
g = al.Graph()
x = g.constant(np.array([127], al.int8))
assert g.run(x + 1).tolist() == [-128]

# al.int16
g = al.Graph()
x = g.constant(np.array([2**15 - 1], al.int16))
assert g.run(x + 1).tolist() == [-(2**15)]

# al.int32
g = al.Graph()
assert g.constant([1, 2, 3]).dtype == al.int32
assert g.run(al.argmax(g.constant([1.0, 9.0]))).dtype == al.int32

# al.int64
g = al.Graph()
x = g.constant([2**31 - 1])
assert g.run(al.cast(x, al.int64) + 1).tolist() == [2**31]

# al.uint8
g = al.Graph()
x = g.constant(np.array([255], al.uint8))
assert g.run(x + 1).tolist() == [0]

# al.uint16
g = al.Graph()
x = g.constant(np.array([0], al.uint16))
assert g.run(x - 1).tolist() == [2**16 - 1]

# al.uint32
g = al.Graph()
x = g.constant(np.array([0], al.uint32))
assert g.run(x - 1).tolist() == [2**32 - 1]

# al.uint64
g = al.Graph()
x = g.constant(np.array([2**63], al.uint64))
assert g.run(x + 1).tolist() == [2**63 + 1]

# al.bool_
g = al.Graph()
x = g.constant([1.0, -1.0])
assert (x > 0).dtype == al.bool_ and g.run(al.cast(x > 0, al.float32)).tolist() == [1, 0]

# al.complex64
g = al.Graph()
x = g.placeholder((1,), al.complex64)
assert g.run(x * x, {x: np.complex64([1j])}).tolist() == [-1]
