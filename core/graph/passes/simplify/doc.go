// Package simplify has the passes after which a network computes the same with fewer or plainer layers: what nothing needs is
// removed, what is constant computed, what is there twice merged, and shapes and slices take one form.
package simplify
