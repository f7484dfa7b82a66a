// Package ptxsim runs PTX: the instructions that the driver would compile, one warp at a time, on the CPU.
//
// It is an oracle, not an emulator of a particular GPU. It computes what the ISA says, and refuses what the ISA leaves
// undefined: every access is checked against the allocations, their alignment and what has been written; every access to
// shared memory against the barriers that should order it; an asynchronous copy arrives at the latest or at the earliest
// moment that the program allows; warps take turns in a seeded random order, and so do the lanes of a warp that a branch has
// parted where [Options].Apart says so. What it finds is a [Fault] with the kernel,
// block, warp, lane and line. What it counts is in [Stats]: bank conflicts, memory sectors, live registers.
//
// [Memory] is the device's memory. [Load] decodes a module into a [Program]: instructions become functions over the
// registers of a warp, which lie as [register][lane]. [Program.Launch] runs a kernel over a grid.
//
// Start reading at program.go (what a decoded kernel is), then warp.go (how a warp runs), then the decode_*.go and
// exec_*.go files (what each instruction does).
package ptxsim
