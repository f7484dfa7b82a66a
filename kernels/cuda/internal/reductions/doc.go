// Package reductions has the kernels that make one number of many, or of each what it is among the others: sums and extremes
// along axes, softmax, normalisations by a row's own statistics, running sums, orders.
package reductions
