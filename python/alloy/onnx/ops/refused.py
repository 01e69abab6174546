"""ONNX's ops of opset 13 to 22 that are refused, with the reason."""

_ELEMENTS = "the shape of its result depends on elements, and Alloy's shapes on shapes"
_SEQUENCES = "Alloy has no sequences and no optional values, only tensors"
_TEXTS = "Alloy has no tensors of texts"
_QUANTIZED = "Alloy convolves floats; dequantize before it"
_LOOPS = "loops are not built; export the model with the steps written out, or use LSTM, GRU or RNN"
_SAMPLES = "Alloy has no op that samples images at places of a tensor"

REFUSED = {
    "Compress": _ELEMENTS,
    "ConcatFromSequence": _SEQUENCES,
    "ConvInteger": _QUANTIZED,
    "DeformConv": _SAMPLES,
    "Det": "Alloy has no determinants",
    "GridSample": _SAMPLES,
    "ImageDecoder": "images are decoded before a run: al.data reads them",
    "Loop": _LOOPS,
    "MaxRoiPool": _SAMPLES,
    "MelWeightMatrix": "it is made of numbers that are known: put its result into the file, as onnxsim does",
    "Multinomial": "Alloy draws no classes from logits",
    "NonMaxSuppression": _ELEMENTS,
    "NonZero": _ELEMENTS,
    "Optional": _SEQUENCES,
    "OptionalGetElement": _SEQUENCES,
    "OptionalHasElement": _SEQUENCES,
    "QLinearConv": _QUANTIZED,
    "RegexFullMatch": _TEXTS,
    "RoiAlign": _SAMPLES,
    "STFT": "Alloy has no short-time transforms; DFT is supported",
    "Scan": _LOOPS,
    "Scatter": "ONNX deprecated it in opset 11; ScatterElements is the same",
    "SequenceAt": _SEQUENCES,
    "SequenceConstruct": _SEQUENCES,
    "SequenceEmpty": _SEQUENCES,
    "SequenceErase": _SEQUENCES,
    "SequenceInsert": _SEQUENCES,
    "SequenceLength": _SEQUENCES,
    "SequenceMap": _SEQUENCES,
    "SplitToSequence": _SEQUENCES,
    "StringConcat": _TEXTS,
    "StringNormalizer": _TEXTS,
    "StringSplit": _TEXTS,
    "TfIdfVectorizer": _TEXTS,
    "Unique": _ELEMENTS,
    "Upsample": "ONNX deprecated it in opset 10; Resize is the same",
}
