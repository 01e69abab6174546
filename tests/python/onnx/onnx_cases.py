"""Small cases of ONNX's ops: nodes with operands and attributes, and how they are given."""

from typing import Any, NamedTuple

import numpy as np

F, N, B = np.float32, np.int64, bool
_RNG = np.random.default_rng(7)


def real(*shape):
    return _RNG.normal(size=shape).astype(F)


def positive(*shape):
    return _RNG.uniform(0.2, 2.0, shape).astype(F)


def unit(*shape):
    return _RNG.uniform(-0.9, 0.9, shape).astype(F)


def whole(*shape, low=-5, high=6, dtype=N):
    return _RNG.integers(low, high, shape).astype(dtype)


def truth(*shape):
    return _RNG.integers(0, 2, shape).astype(B)


class Known(NamedTuple):
    """An operand that the file holds."""

    value: Any

    def array(self):
        return np.asarray(self.value, N) if isinstance(self.value, (list, int)) else np.asarray(self.value)


class Case(NamedTuple):
    """op, operands (None is left out), attributes, the number of outputs, opsets, tolerance."""

    op: str
    operands: tuple
    attributes: dict = {}
    outputs: int = 1
    opsets: tuple = (13, 17, 22)
    tolerance: float = 1e-5


def case(op, *operands, outputs=1, opsets=(13, 17, 22), tolerance=1e-5, **attributes):
    return Case(op, operands, attributes, outputs, opsets, tolerance)


LATE = (18, 22)
K = Known
X = (3, 4)

_UNARY = {
    **{
        op: real
        for op in "Abs Atan Ceil Cos Erf Exp Floor HardSwish Identity IsNaN Neg Relu Round Sigmoid Sign".split()
    },
    **{op: real for op in "Sin Softplus Tan Tanh Softsign Elu Selu Celu LeakyRelu ThresholdedRelu Shrink".split()},
    **{op: real for op in "HardSigmoid Asinh Cosh Sinh".split()},
    **{op: unit for op in "Acos Asin Atanh".split()},
    **{op: positive for op in "Log Sqrt Reciprocal".split()},
    "Acosh": lambda *shape: positive(*shape) + F(1),
}

REDUCTIONS = (
    "ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare".split()
)
CASES = [
    *[case(op, make(*X), opsets=(14, 22) if op == "HardSwish" else (13, 22)) for op, make in _UNARY.items()],
    case("Abs", whole(*X)),
    case("Neg", whole(*X)),
    case("Relu", whole(*X, dtype=np.int32), opsets=(14, 22)),
    case("Not", truth(*X)),
    case("BitwiseNot", whole(*X), opsets=LATE),
    case("Elu", real(*X), alpha=0.7),
    case("Selu", real(*X), alpha=1.1, gamma=0.8),
    case("Celu", real(*X), alpha=0.6),
    case("LeakyRelu", real(*X), alpha=1.7),
    case("ThresholdedRelu", real(*X), alpha=0.2),
    case("Shrink", real(*X), bias=0.3, lambd=0.4),
    case("HardSigmoid", real(*X), alpha=0.3, beta=0.4),
    case("PRelu", real(*X), real(4), opsets=(13, 22)),
    case("Mish", real(*X), opsets=LATE),
    case("Gelu", real(*X), opsets=(20, 22)),
    case("Gelu", real(*X), opsets=(20, 22), approximate="tanh"),
    case("Clip", real(*X)),
    case("Clip", real(*X), K(F(-0.5)), K(F(0.5))),
    case("Clip", real(*X), None, K(F(0.1))),
    case("Clip", real(*X), real().reshape(())),
    case("Clip", whole(*X), K(N(-2)), K(N(3))),
    case("IsInf", np.array([1, np.inf, -np.inf, np.nan], F), opsets=(13, 20)),
    case("IsInf", np.array([1, np.inf, -np.inf], F), opsets=(13, 20), detect_negative=0),
    case("IsInf", np.array([1, np.inf, -np.inf], F), opsets=(13, 20), detect_positive=0),
    case("IsNaN", np.array([1, np.inf, np.nan], F), opsets=(13, 20)),
    *[
        case(op, real(*X), real(4), opsets=(13, 22))
        for op in ("Add", "Sub", "Mul", "Less", "Greater", "LessOrEqual", "GreaterOrEqual")
    ],
    *[case(op, whole(2, 3), whole(2, 3), opsets=(13, 22)) for op in ("Add", "Sub", "Mul", "Equal", "Less")],
    case("Div", real(*X), positive(4)),
    case("Div", whole(*X), whole(*X, low=1)),
    case("Equal", truth(*X), truth(*X)),
    *[case(op, truth(*X), truth(4), opsets=(13, 22)) for op in ("And", "Or", "Xor")],
    *[case(op, whole(*X), whole(*X), opsets=LATE) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")],
    case("BitShift", whole(4, low=0, dtype=np.uint8), whole(4, low=0, high=3, dtype=np.uint8), direction="LEFT"),
    case("BitShift", whole(4, low=0, dtype=np.uint32), whole(4, low=0, high=3, dtype=np.uint32), direction="RIGHT"),
    case("Pow", positive(*X), real(4)),
    case("Pow", real(*X), K(F(2))),
    case("Pow", positive(*X), K(F(0.5))),
    case("Pow", real(*X), K(np.array([2], F))),
    case("Pow", real(*X), K(N(3))),
    case("Pow", whole(*X), K(N(2))),
    case("Mod", whole(*X), whole(*X, low=1)),
    case("Mod", real(*X), positive(*X), fmod=1),
    case("Mod", whole(*X), whole(*X, low=1), fmod=1),
    *[case(op, real(*X), real(4), real(3, 1), opsets=(13, 22)) for op in ("Sum", "Mean", "Max", "Min")],
    case("Max", whole(3), whole(3)),
    case("Max", real(3)),
    case("Where", truth(*X), real(*X), real(4)),
    case("Where", truth(*X), whole(*X), whole(4)),
    *[case("Cast", real(*X) * F(3), to=to, opsets=(13, 22)) for to in (1, 6, 7, 9, 10)],
    case("Cast", truth(*X), to=1),
    case("Cast", whole(*X), to=9),
    case("CastLike", real(*X), K(N(1)), opsets=(15, 22)),
    # ---- reductions
    *[case(op, positive(2, 3, 4), opsets=(13, 17), axes=[1]) for op in REDUCTIONS],
    *[case(op, positive(2, 3, 4), K([0, -1]), opsets=LATE, keepdims=0) for op in REDUCTIONS],
    *[case(op, real(2, 3), opsets=(13, 22)) for op in ("ReduceMean", "ReduceMax", "ReduceSum")],
    case("ReduceSum", real(2, 3, 4), K([1])),
    case("ReduceSum", real(2, 3), K(np.zeros(0, N)), noop_with_empty_axes=1),
    case("ReduceSum", whole(2, 3), K([1]), keepdims=0),
    case("ReduceMax", truth(2, 3), K([1]), opsets=(20, 22)),
    case("ReduceMin", truth(2, 3), K([1]), opsets=(20, 22)),
    case("ReduceMax", whole(2, 3), K([1]), opsets=(18, 22)),
    case("ArgMax", real(3, 4)),
    case("ArgMax", real(3, 4), axis=1, keepdims=0),
    case("ArgMin", real(3, 4), axis=-1),
    case("ArgMax", np.array([[1, 3, 3], [2, 2, 1]], F), axis=1, select_last_index=1),
    case("ArgMin", np.array([[1, 1, 3], [2, 2, 1]], F), axis=1, select_last_index=1),
    case("Hardmax", real(3, 4)),
    case("Hardmax", real(3, 4), axis=0),
    case("CumSum", real(3, 4), K(N(1))),
    case("CumSum", real(3, 4), K(N(0)), exclusive=1),
    case("CumSum", real(3, 4), K(N(-1)), reverse=1),
    case("TopK", real(3, 5), K([2]), outputs=2),
    case("TopK", real(3, 5), K([2]), outputs=2, largest=0, axis=0),
    # ---- shapes
    case("Shape", real(2, 3)),
    case("Shape", real(2, 3, 4), opsets=(15, 22), start=1),
    case("Shape", real(2, 3, 4), opsets=(15, 22), end=-1),
    case("Size", real(2, 3)),
    case("Reshape", real(2, 3, 4), K([4, -1])),
    case("Reshape", real(2, 3, 4), K([0, 12])),
    case("Flatten", real(2, 3, 4)),
    case("Flatten", real(2, 3, 4), axis=0),
    case("Flatten", real(2, 3, 4), axis=-1),
    case("Transpose", real(2, 3, 4)),
    case("Transpose", real(2, 3, 4), perm=[1, 0, 2]),
    case("Squeeze", real(1, 3, 1)),
    case("Squeeze", real(1, 3, 1), K([-1])),
    case("Unsqueeze", real(3), K([0, 2])),
    case("Concat", real(2, 3), real(2, 1), axis=1),
    case("Concat", whole(2, 3), whole(2, 3), axis=-2),
    case("Split", real(6, 2), outputs=3, opsets=(13, 17)),
    case("Split", real(6, 2), K([1, 5]), outputs=2),
    case("Split", real(2, 5), outputs=2, opsets=LATE, num_outputs=2, axis=1),
    case("Expand", real(3, 1), K([2, 1, 4])),
    case("Expand", real(3), K([1])),
    case("Expand", whole(1), K([2, 3])),
    case("Tile", real(2, 3), K([2, 1])),
    case("Range", K(N(1)), K(N(9)), K(N(3))),
    case("Range", K(F(1)), K(F(2)), K(F(0.25))),
    case("Trilu", real(3, 4), opsets=(14, 22)),
    case("Trilu", real(3, 4), K(N(1)), opsets=(14, 22), upper=0),
    case("Trilu", real(2, 3, 3), K(N(-1)), opsets=(14, 22)),
    case("EyeLike", real(3, 4)),
    case("EyeLike", real(3, 4), k=1, dtype=7),
    case("ConstantOfShape", K([2, 3])),
    case("ConstantOfShape", K([2]), value=np.array([3], N)),
    case("Constant", value=real(2, 3)),
    case("Constant", value_ints=[1, 2]),
    case("Constant", value_float=0.5),
    case("Constant", value_floats=[0.5, 1.5]),
    case("Constant", value_int=3),
    case("DepthToSpace", real(1, 8, 2, 3), blocksize=2),
    case("DepthToSpace", real(1, 8, 2, 3), blocksize=2, mode="CRD"),
    case("SpaceToDepth", real(1, 2, 4, 6), blocksize=2),
    case("Pad", real(2, 3), K([0, 1, 2, 0])),
    case("Pad", real(2, 3), K([0, 1, 0, 2]), K(F(1.5)), mode="constant"),
    case("Pad", real(2, 4), K([0, 2, 0, 1]), mode="reflect"),
    case("Pad", real(2, 3), K([1, 0, 0, 2]), mode="edge"),
    case("Pad", real(2, 3), K([1, 2]), None, K([1]), opsets=(18, 22)),
    case("Pad", real(2, 3), K([0, 1, 0, 2]), opsets=(19, 22), mode="wrap"),
    case("CenterCropPad", real(4, 5), K([2, 8]), opsets=LATE),
    case("CenterCropPad", real(4, 5), K([3]), opsets=LATE, axes=[1]),
    case("Col2Im", real(1, 5, 5), K([5, 5]), K([1, 5]), opsets=LATE),
    case("Col2Im", real(1, 8, 4), K([4, 4]), K([2, 2]), opsets=LATE, strides=[2, 2]),
    case("ReverseSequence", real(4, 3, 2), whole(3, low=1, high=5)),
    case("ReverseSequence", real(3, 4), whole(3, low=1, high=5), batch_axis=0, time_axis=1),
    case("Resize", real(1, 2, 3, 4), None, K(np.array([1, 1, 2, 2], F))),
    case("Resize", real(1, 1, 4, 4), None, K(np.array([1, 1, 0.6, 0.6], F))),
    *[
        case(
            "Resize",
            real(1, 1, 3, 4),
            None,
            K(np.array([1, 1, 2, 3], F)),
            mode="linear",
            coordinate_transformation_mode=m,
        )
        for m in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    ],
    *[
        case(
            "Resize",
            real(1, 1, 3, 4),
            None,
            None,
            K([1, 1, 5, 7]),
            coordinate_transformation_mode="asymmetric",
            nearest_mode=m,
        )
        for m in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    ],
    case("Resize", real(1, 1, 3, 4), None, None, K([5, 7]), opsets=LATE, mode="linear", axes=[2, 3]),
    case(
        "Resize",
        real(1, 1, 4),
        None,
        K(np.array([2.5], F)),
        opsets=(19, 22),
        mode="linear",
        axes=[2],
        coordinate_transformation_mode="half_pixel_symmetric",
    ),
    # ---- positions
    case("Gather", real(4, 3), whole(2, 2, low=-4, high=4)),
    case("Gather", real(4, 3), K([0, 2]), axis=1),
    case("Gather", real(4, 3), K(N(-1)), axis=1),
    case("Gather", real(4, 3), K([1])),
    case("GatherElements", real(3, 3), whole(2, 3, low=-3, high=3), opsets=(13, 22)),
    case("GatherElements", real(3, 3), whole(3, 2, low=0, high=3), axis=1),
    case("GatherND", real(2, 3, 4), whole(2, 2, low=0, high=2)),
    case("GatherND", real(2, 3, 4), whole(2, 1, low=-3, high=3), batch_dims=1),
    case("ScatterElements", real(3, 3), K([[1, 0, 2], [0, 2, 1]]), real(2, 3)),
    case("ScatterElements", real(1, 5), K([[1, 3]]), real(1, 2), axis=1),
    *[
        case("ScatterElements", real(1, 5), K([[1, -1]]), real(1, 2), axis=1, opsets=(18, 22), reduction=m)
        for m in ("add", "mul", "min", "max")
    ],
    case("ScatterND", real(4, 3), K([[0], [2]]), real(2, 3)),
    *[
        case("ScatterND", real(4, 3), K([[0], [-1]]), real(2, 3), opsets=(18, 22), reduction=m)
        for m in ("add", "mul", "min", "max")
    ],
    case("OneHot", whole(3, low=-3, high=3), K(N(3)), real(2)),
    case("OneHot", whole(2, 2, low=0, high=3), K(N(3)), real(2), axis=0),
    case("Slice", real(4, 5), K([1, 0]), K([3, 4])),
    case("Slice", real(4, 5), K([-1]), K([-(2**62)]), K([1]), K([-2])),
    case("Slice", real(4, 5), K([0]), K([2**62]), K([-1]), K([2])),
    # ---- matrices
    case("MatMul", real(2, 3), real(3, 4)),
    case("MatMul", real(2, 2, 3), real(3)),
    case("MatMul", real(3), real(2, 3, 2)),
    case("MatMul", real(3), real(3)),
    case("Gemm", real(2, 3), real(3, 4), real(4)),
    case("Gemm", real(3, 2), real(4, 3), transA=1, transB=1, alpha=0.5),
    case("Gemm", real(2, 3), real(3, 4), real(2, 1), beta=0.3),
    case("Einsum", real(2, 3), real(3, 4), equation="ij,jk->ki"),
    case("Einsum", real(2, 3, 3), equation="bii->b"),
    case("DFT", real(1, 8, 1), opsets=(17,), axis=1),
    case("DFT", real(1, 8, 2), opsets=(17,), axis=1, inverse=1),
    case("DFT", real(1, 8, 1), opsets=(17,), axis=1, onesided=1),
    case("DFT", real(1, 8, 1), None, K(N(1)), opsets=(20,)),
    *[
        case(op, K(N(8)), opsets=(17,), periodic=p)
        for op in ("HannWindow", "HammingWindow", "BlackmanWindow")
        for p in (0, 1)
    ],
    case("AffineGrid", real(2, 2, 3), K([2, 3, 4, 5]), opsets=(20,)),
    case("AffineGrid", real(2, 2, 3), K([2, 3, 4, 5]), opsets=(20,), align_corners=1),
    case("AffineGrid", real(1, 3, 4), K([1, 2, 2, 3, 4]), opsets=(20,)),
    # ---- convolutions
    case("Conv", real(2, 4, 6, 5), real(6, 4, 3, 2)),
    case(
        "Conv",
        real(2, 4, 6, 5),
        real(6, 2, 3, 3),
        real(6),
        group=2,
        pads=[1, 0, 2, 1],
        strides=[2, 1],
        dilations=[1, 2],
    ),
    case("Conv", real(2, 4, 9), real(3, 4, 3), real(3), pads=[1, 1]),
    case("Conv", real(1, 2, 4, 5, 4), real(3, 2, 2, 3, 2), real(3)),
    case("Conv", real(1, 2, 5, 6), real(3, 2, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
    case("Conv", real(1, 2, 5, 6), real(3, 2, 2, 2), auto_pad="SAME_LOWER"),
    case("Conv", real(1, 2, 5, 6), real(3, 2, 2, 2), auto_pad="VALID"),
    case("ConvTranspose", real(2, 4, 3, 4), real(4, 3, 3, 2)),
    case(
        "ConvTranspose",
        real(2, 4, 3, 4),
        real(4, 3, 3, 3),
        real(3),
        strides=[2, 2],
        pads=[1, 1, 1, 1],
        output_padding=[1, 1],
    ),
    case("ConvTranspose", real(1, 2, 5), real(2, 3, 3), strides=[2]),
    case("ConvTranspose", real(1, 1, 3, 3), real(1, 2, 3, 3), strides=[3, 2], output_shape=[10, 8]),
    case("ConvTranspose", real(1, 1, 3, 3), real(1, 2, 3, 3), strides=[2, 2], auto_pad="SAME_UPPER"),
    case("MaxPool", real(1, 2, 6, 5), kernel_shape=[3, 2]),
    case("MaxPool", real(1, 2, 6, 5), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    case("MaxPool", real(1, 2, 7), kernel_shape=[3], strides=[2]),
    case("MaxPool", real(1, 2, 6, 6), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    case("MaxPool", real(1, 2, 6, 6), kernel_shape=[2, 2], dilations=[2, 2]),
    case("MaxPool", real(1, 2, 4, 4, 4), kernel_shape=[2, 2, 2]),
    case("MaxPool", real(2, 2, 4, 4), kernel_shape=[2, 2], strides=[2, 2], outputs=2),
    case("MaxPool", real(1, 2, 5, 5), kernel_shape=[3, 3], auto_pad="SAME_UPPER", strides=[2, 2]),
    case("AveragePool", real(1, 2, 6, 5), kernel_shape=[3, 2]),
    case("AveragePool", real(1, 2, 6, 5), kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
    case("AveragePool", real(1, 2, 6, 5), kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
    case("AveragePool", real(1, 2, 7), kernel_shape=[3], strides=[2]),
    case("AveragePool", real(1, 2, 4, 4), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, opsets=(19, 22)),
    case("AveragePool", real(1, 2, 4, 4, 4), kernel_shape=[2, 2, 2]),
    case("LpPool", real(1, 2, 5, 5), kernel_shape=[2, 2], opsets=(18, 22)),
    case("LpPool", real(1, 2, 5, 5), kernel_shape=[2, 2], opsets=(18, 22), p=3),
    case("GlobalAveragePool", real(2, 3, 4, 5)),
    case("GlobalMaxPool", real(2, 3, 4, 2)),
    case("GlobalLpPool", real(2, 3, 4, 5), opsets=()),
    case("LRN", real(5, 5, 3, 3), size=3),
    case("LRN", real(5, 5, 3, 3), size=4, alpha=0.1, beta=0.5, bias=2.0),
    case("MaxUnpool", real(1, 1, 2, 2), np.array([[[[5, 7], [13, 15]]]], N), kernel_shape=[2, 2], strides=[2, 2]),
    # ---- normalisations
    case(
        "BatchNormalization",
        real(3, 4, 2, 2),
        K(positive(4)),
        K(real(4)),
        K(real(4)),
        K(positive(4)),
        opsets=(14, 15, 22),
    ),
    case(
        "BatchNormalization",
        real(3, 4),
        K(positive(4)),
        K(real(4)),
        K(real(4)),
        K(positive(4)),
        opsets=(14, 15, 22),
        epsilon=1e-2,
    ),
    case("InstanceNormalization", real(2, 3, 4, 4), real(3), real(3)),
    case("LayerNormalization", real(2, 3, 4), real(4), real(4), opsets=(17, 22), outputs=3),
    case("LayerNormalization", real(2, 3, 4), real(3, 4), opsets=(17, 22), axis=1),
    case("GroupNormalization", real(2, 4, 3, 3), real(2), real(2), opsets=(18,), num_groups=2),
    case("GroupNormalization", real(2, 4, 3, 3), real(4), real(4), opsets=(21, 22), num_groups=2),
    case("LpNormalization", real(3, 4)),
    case("LpNormalization", positive(3, 4), axis=0, p=1),
    case("MeanVarianceNormalization", real(2, 3, 4, 4)),
    case("Softmax", real(2, 3, 4)),
    case("Softmax", real(2, 3, 4), axis=1),
    case("LogSoftmax", real(2, 3), axis=0),
    case("Dropout", real(3, 4), outputs=2),
    case("Dropout", real(3, 4), K(F(0.3))),
    *[
        case("NegativeLogLikelihoodLoss", real(3, 5, 2), whole(3, 2, low=0, high=5), reduction=r)
        for r in ("none", "sum", "mean")
    ],
    case("NegativeLogLikelihoodLoss", real(3, 5), np.array([1, 4, 2]), positive(5), ignore_index=4),
    case("SoftmaxCrossEntropyLoss", real(3, 5), whole(3, low=0, high=5), outputs=2),
    case("SoftmaxCrossEntropyLoss", real(3, 5, 2), whole(3, 2, low=0, high=5), positive(5), reduction="sum"),
    # ---- quantized
    case("QuantizeLinear", real(3, 4) * F(9), K(F(0.2)), K(np.uint8(120)), opsets=(13, 19)),
    case("QuantizeLinear", real(3, 4) * F(9), K(positive(4)), K(whole(4, dtype=np.int8)), opsets=(13, 19)),
    case("DequantizeLinear", whole(3, 4, dtype=np.int8), K(F(0.2)), K(np.int8(2)), opsets=(19, 22)),
    case(
        "DequantizeLinear",
        whole(3, 4, dtype=np.int8),
        K(positive(3)),
        K(whole(3, dtype=np.int8)),
        axis=0,
        opsets=(19, 22),
    ),
    case("DynamicQuantizeLinear", real(3, 4), outputs=3),
    case(
        "MatMulInteger",
        whole(2, 3, low=0, dtype=np.uint8),
        whole(3, 4, low=0, dtype=np.uint8),
        K(np.uint8(2)),
        K(np.uint8(1)),
    ),
    case(
        "QLinearMatMul",
        whole(2, 3, low=0, dtype=np.uint8),
        K(F(0.1)),
        K(np.uint8(2)),
        whole(3, 2, low=0, dtype=np.uint8),
        K(F(0.2)),
        K(np.uint8(1)),
        K(F(0.05)),
        K(np.uint8(7)),
    ),
    # ---- recurrent: sequences (5, 2, 3), 4 units
    *[
        case(
            op,
            real(5, 2, 3),
            real(1, g * 4, 3),
            real(1, g * 4, 4),
            real(1, 2 * g * 4),
            hidden_size=4,
            outputs=n,
            opsets=(14, 22),
        )
        for op, g, n in (("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 2))
    ],
    *[
        case(
            op,
            real(5, 2, 3),
            real(1, g * 4, 3),
            real(1, g * 4, 4),
            None,
            None,
            real(1, 2, 4),
            hidden_size=4,
            outputs=n,
            opsets=(14, 22),
        )
        for op, g, n in (("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 2))
    ],
    case(
        "LSTM",
        real(5, 2, 3),
        real(1, 16, 3),
        real(1, 16, 4),
        real(1, 32),
        None,
        real(1, 2, 4),
        real(1, 2, 4),
        hidden_size=4,
        outputs=3,
        opsets=(14, 22),
    ),
    case(
        "GRU",
        real(5, 2, 3),
        real(1, 12, 3),
        real(1, 12, 4),
        real(1, 24),
        hidden_size=4,
        outputs=2,
        opsets=(14, 22),
        linear_before_reset=1,
    ),
    case(
        "LSTM",
        real(2, 5, 3),
        real(1, 16, 3),
        real(1, 16, 4),
        real(1, 32),
        hidden_size=4,
        outputs=2,
        opsets=(14,),
        layout=1,
    ),
    case("BatchNormalization", K(real(3, 4)), K(positive(4)), K(real(4)), K(real(4)), K(positive(4)), opsets=(15,)),
]
