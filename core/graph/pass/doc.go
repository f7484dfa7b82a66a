// Package pass says what a pass is, a function that rewrites a network in place, and drives a table of them. The passes
// themselves, and the tables that order them, are in core/graph/passes.
//
// Start with [Run], the driver. A pass works on a [Rewrite]: it finds a pattern, makes a [Candidate] of it, and either rewrites
// and fires it or records why not. The driver alone verifies, times and records: a [Step] for each pass tells every rewrite
// with what it saves, every candidate that was left with a reason code, and a [Ledger] of what became of each layer of the
// source.
//
// Two rules hold for every pass. A tensor that is left under a name of the source network has the value that it has
// there (rounded, if it is quantised), since calibration and error measures know tensors by name. And evaluating the
// network before and after gives the same outputs up to the rounding of real arithmetic; the random-network tests of
// core/graph/passes check both.
package pass
