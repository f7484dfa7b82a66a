package cuda

import "github.com/trtui/trtui/kernels/cuda/internal/emit"

// rates is how fast one SM of a compute capability multiplies: multiply-adds in a cycle, by unit. It is what the instructions
// that our kernels use can reach, dense, with sums of 32 bits. Both estimates read this table: the cost model's, which chooses
// tactics, and the simulator's, which counts what a launch did.
//
// Sources: for 32-bit multiply-adds the CUDA C++ Programming Guide, "Arithmetic Instructions", table of throughput; for
// tensor cores NVIDIA's architecture whitepapers of GA100, GA102, AD102, GH100 and RTX Blackwell, and the Jetson AGX Orin
// technical brief: peak rates over SMs and boost clock.
type rates struct {
	sm int // the first capability that it holds for, 10 times the major number and the minor one
	of [emit.UnitCount]float64
}

// smRates is the table. GeForce boards of sm_86, sm_89 and sm_120 add products of halves up in 32 bits at half the rate that
// the workstation and server boards of the same capability have; a driver does not tell them apart.
var smRates = [...]rates{
	{80, [...]float64{emit.SimtF32: 64, emit.TensorF16: 1024, emit.TensorI8: 2048}},
	{86, [...]float64{emit.SimtF32: 128, emit.TensorF16: 512, emit.TensorI8: 1024}},
	{87, [...]float64{emit.SimtF32: 128, emit.TensorF16: 1024, emit.TensorI8: 2048}},
	{89, [...]float64{emit.SimtF32: 128, emit.TensorF16: 512, emit.TensorI8: 1024}},
	{90, [...]float64{emit.SimtF32: 128, emit.TensorF16: 2048 * mmaOfWgmma, emit.TensorI8: 4096 * mmaOfWgmma}},
	{120, [...]float64{emit.SimtF32: 128, emit.TensorF16: 512, emit.TensorI8: 1024}},
}

// mmaOfWgmma is the share of a Hopper SM's tensor cores that mma.sync reaches, as microbenchmarks have it: all of them work
// for wgmma alone.
const mmaOfWgmma = 0.62

// ratesOf returns the rates of a capability: those of the last one before it that the table has, or of its first.
func ratesOf(sm int) rates {
	r := smRates[0]
	for _, next := range smRates[1:] {
		if sm >= next.sm {
			r = next
		}
	}
	return r
}
