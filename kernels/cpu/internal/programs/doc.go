// Package programs computes element-wise programs over tensors of any format and type (program.go): strips of its arguments
// (argument.go) become float32 (codec.go), instructions run on them as vector functions (elementwise.go), and the result is
// stored. Those of integers alone run on int64 (longs.go, long_ops.go). What becomes of the sums of a convolution, product or
// pooling is an epilogue (epilogue.go): in registers where the kernel can, otherwise a program.
package programs
