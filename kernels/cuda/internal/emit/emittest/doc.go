// Package emittest runs what tactics emit, for their tests: on the PTX simulator, in all orders of its threads and copies that
// a GPU may choose, and through NVIDIA's assembler and disassembler where these are installed.
package emittest
