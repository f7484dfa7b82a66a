// Package symbolic is extents that are not known yet: whole numbers that are computed from symbols, such as a batch.
//
// A [Dim] is a sum of products of symbols, quotients, minima and maxima, in one form, so that equal ones look equal (dim.go). A
// symbol stands for an extent and is never negative; bounds.go says what an expression is at least and at most, parse.go reads
// the text that [Dim.String] writes. A [Real] is what a model computes of extents in floating point on the way to other extents (real.go).
package symbolic
