// Package quant chooses how a network is stored in fewer bits: which range of reals an 8-bit tensor stands for, which
// layers run in which precision, and how large the error is.
//
// Calibration is one pass over representative data with the float network: every activation is added to a [Histogram]
// of its own, keyed by the name of the source tensor. A [Calibrator] turns a histogram into a range without looking at
// the data again, so trying another one costs milliseconds; [Assess] says what a range does to the values collected.
// [Place] then puts Quantize and Dequantize layers where a [Policy] wants 8-bit layers, for the lowering passes to
// fuse; [PlaceFP16] stores activations and weights as 16-bit floats. [ErrorAccumulator] compares what comes out.
package quant
