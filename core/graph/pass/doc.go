// Package pass rewrites networks: it removes what does nothing, folds constants, and fuses layers into others, first
// in ways that hold for every precision ([Standard]), then, on a network with Quantize and Dequantize
// layers, into layers that compute with integers ([Lowering]).
//
// Start with [Run], the driver, and table.go, which lists the passes and says which must come before which. Each pass
// is one file with the picture of what it rewrites as its comment; it finds a pattern, makes a candidate of it, and
// either rewrites and fires it or records why not (rewrite.go). The driver alone verifies, times and records: a [Step]
// for each pass tells every rewrite with what it saves, every candidate that was left with a reason code, and a
// [Ledger] of what became of each layer of the source.
//
// Two rules hold for every pass. A tensor that is left under a name of the source network has the value that it has
// there (rounded, if it is quantised), since calibration and error measures know tensors by name. And evaluating the
// network before and after gives the same outputs up to the rounding of real arithmetic; the random-network tests
// check both.
package pass
