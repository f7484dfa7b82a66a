// Package elementwise is what is computed for each element alone: programs of operations such as [Add], [Clamp] or [Select].
//
// A [Program] is a list of instructions, each of which reads arguments or what came before it (program.go; [Builder] appends
// them). It is the epilogue of a layer, and all of an element-wise one. eval.go says what each operation makes of real numbers,
// integers.go of integers, types.go which types it takes and gives, dims.go what it makes of extents; apply.go computes a program
// on whole values. Kernels compute the same.
package elementwise
