// Package cputest is for tests of the CPU's kernels: convolutions by their definition (f32.go, int8.go), odd shapes, the
// instruction sets that a processor can stand for (features.go), and timing (timing.go).
package cputest
