// Package build turns a network and a configuration into an engine: TensorRT's IBuilder.
//
// Build is a chain of stages, each a function of its inputs alone so that a caller may keep results and redo only what
// a change makes stale: [Optimize] (passes), [Collect] (histograms of activations, from the unfused network),
// [Lower] (precision, quantisation, INT8 fusion), [Plan] (tactics timed on the device, formats, memory).
package build
