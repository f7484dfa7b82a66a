// Package quantise has the passes on numbers of few bits: those that turn Quantize and Dequantize layers and what is between
// them into layers that compute with integers, those that write out what no target reads, and those whose numbers calibration
// finds ([Calibrated]).
package quantise
