// Package pointwise has the kernels in which each element of the output follows from one of each input: element-wise programs
// of real numbers and of integers, casts, and changes between real and quantised numbers.
package pointwise
