"""Static quantisation by other tools: ONNX Runtime's and NNCF's, from their defaults to what serves accuracy best."""

import logging

import onnx
import onnxruntime as rt

rt.set_default_logger_severity(4)


def session(path, optimised=True):
    o = rt.SessionOptions()
    if not optimised:
        o.graph_optimization_level = rt.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.intra_op_num_threads = 1
    o.add_session_config_entry("session.x64quantprecision", "1")  # or sums of bytes saturate on processors with AVX2 and no VNNI
    return rt.InferenceSession(path, o, providers=["CPUExecutionProvider"])


def onnxruntime_ways():
    """Yields names of ways, the default first, and functions that write the quantised model of a prepared one."""
    from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(CalibrationDataReader):
        def __init__(self, p):
            self.items, self.input = iter(p.calibration), p.input

        def get_next(self):
            x = next(self.items, None)
            return None if x is None else {self.input: x[None]}

    def way(p, out, **options):
        ready = p.file("ready.onnx")
        try:
            quant_pre_process(p.model, ready, skip_symbolic_shape=True)
        except Exception:  # it optimises what it can; the quantiser takes the model as it is, too
            ready = p.model
        more = {"CalibMaxIntermediateOutputs": 32 if len(p.calibration) % 32 else 31} if options["calibrate_method"] == CalibrationMethod.MinMax else {}
        quantize_static(ready, out, Reader(p), quant_format=QuantFormat.QDQ, weight_type=QuantType.QInt8, extra_options=more, **options)

    for method in (CalibrationMethod.MinMax, CalibrationMethod.Entropy, CalibrationMethod.Percentile):
        for activations, channel in ((QuantType.QInt8, False), (QuantType.QInt8, True), (QuantType.QUInt8, True)):
            yield (f"{method.name} {activations.name}" + (" per channel" if channel else ""),
                   lambda p, out, o=dict(calibrate_method=method, activation_type=activations, per_channel=channel): way(p, out, **o))


def nncf_ways():
    """Yields names of ways, the default first, and functions that write the quantised model of a prepared one."""
    import nncf
    from nncf.quantization.advanced_parameters import AdvancedQuantizationParameters, OverflowFix
    from nncf.quantization.range_estimator import RangeEstimatorParametersSet

    logging.getLogger("nncf").setLevel(logging.ERROR)
    sets = {"": None, ", min-max": RangeEstimatorParametersSet.MINMAX}

    def way(p, out, preset, fast, fix, ranges):
        more = {"activations_range_estimator_params": sets[ranges]} if sets[ranges] else {}
        done = nncf.quantize(
            onnx.load(p.model), nncf.Dataset(list(p.calibration), lambda x: {p.input: x[None]}), preset=preset, fast_bias_correction=fast,
            subset_size=len(p.calibration),
            advanced_parameters=AdvancedQuantizationParameters(overflow_fix=OverflowFix.ENABLE if fix else OverflowFix.DISABLE, **more))
        onnx.save(done, out)

    performance, mixed = nncf.QuantizationPreset.PERFORMANCE, nncf.QuantizationPreset.MIXED
    yield "default", lambda p, out: onnx.save(nncf.quantize(
        onnx.load(p.model), nncf.Dataset(list(p.calibration), lambda x: {p.input: x[None]}), subset_size=len(p.calibration)), out)
    for preset, label in ((performance, "performance"), (mixed, "mixed")):
        for fast in (True, False):
            for ranges in sets:
                yield (f"{label}, {'fast' if fast else 'accurate'} bias correction{ranges}, no overflow fix",
                       lambda p, out, o=(preset, fast, False, ranges): way(p, out, *o))
