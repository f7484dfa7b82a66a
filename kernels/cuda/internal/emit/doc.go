// Package emit is what GPU tactics emit, and the means to emit it. A Tactic turns a binding into a Work: a module of PTX, the
// launches of its kernels, and the constants that they read.
//
// The families of tactics (products, reductions, pointwise, moves) share how threads are numbered (thread.go, grid.go), how
// tensors and elements lie in memory (tensor.go, element.go), how element-wise programs become instructions (program.go,
// argument.go), and what becomes of a row of sums (output.go). What the backend takes is a Tactic
// (tactic.go), which says what GPU it is for (target.go), and the Work that it emits (work.go): kernels, and launches
// (launch.go) with the parameters that they pass (param.go).
package emit
