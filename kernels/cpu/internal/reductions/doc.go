// Package reductions has what the CPU computes along axes, with tactics: sums, extremes and the like (reduce.go), the places of
// extremes (argmax.go) and the best of them (topk.go), running sums (cumulative.go), norms over neighbouring channels (lrn.go),
// rotary embeddings (rotary.go), Fourier transforms (spectrum.go) and, in rows that do not depend on each other (rows.go), softmax
// and normalisations.
package reductions
