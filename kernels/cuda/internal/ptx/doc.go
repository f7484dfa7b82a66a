// Package ptx builds, checks, prints and reads PTX, the assembly language that NVIDIA's driver compiles.
//
// A [Module] is the program as data: kernels of instructions over virtual registers. The builder makes one from Go calls,
// one method an instruction, with a Go type for each class of register; Parse makes one from text; its String is the text
// that the driver gets. A table of opcodes says what each instruction may look like and which ISA version and target it
// needs: what is not in the table can be neither built nor read.
package ptx
