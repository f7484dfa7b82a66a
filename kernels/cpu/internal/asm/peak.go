package asm

import (
	"encoding/binary"
	"runtime"
	"time"
)

// PeakLoop is a loop that does nothing but one kind of arithmetic, in as many independent chains as keep a core busy: what no kernel
// exceeds.
type PeakLoop struct {
	Type       string // of the numbers that are multiplied: "f32" or "i8", whose sums are int32
	By         string // the instruction and its width in bits
	Operations int    // of an iteration, a multiply-add being two
	Run        func(n int)
}

// PeakLoops returns the loops by the best instructions that kernels use on a processor, one a type.
func PeakLoops(have Features) []PeakLoop {
	if list := peakLoops(have); list != nil {
		return list
	}
	return []PeakLoop{
		{"f32", "Go, one at a time", 2 * goChains, peakMultiplyGeneric},
		{"i8", "Go, one at a time", 2 * goChains, peakDotGeneric},
	}
}

// FMAPeak measures the single-precision rate of one core in GFLOP/s, multiply and add counted as two: the
// upper bound that benchmarks relate to. It takes about 5 ms.
func FMAPeak() float64 {
	loop := PeakLoops(HostFeatures())[0]
	const n, calls = 20000, 20
	best := time.Duration(1 << 62)
	for range calls {
		start := time.Now()
		loop.Run(n)
		best = min(best, time.Since(start))
	}
	return float64(n*loop.Operations) / float64(best.Nanoseconds())
}

// What ReadAll reads is cut into so many parts, whose bytes are a multiple of readTurn.
const (
	readParts = 8
	readTurn  = 512
)

// ReadAll reads x as fast as one core can, by the widest loads of a processor. What is left of 4096 bytes at its end is not read.
func ReadAll(have Features, x []byte) {
	part := len(x) / (readParts * readTurn) * readTurn
	if part == 0 {
		return
	}
	run := readLoop(have)
	switch {
	case run == nil:
		runtime.KeepAlive(readGeneric(x[:readParts*part]))
	case inTurn:
		run(&x[0], part)
	default:
		for ; len(x) >= readParts*readTurn; x = x[readParts*readTurn:] {
			run(&x[0], readTurn)
		}
	}
}

const goChains = 8

// The loops below are the twins of those in assembly. Their sums are kept alive, so that the compiler leaves them in.

func peakMultiplyGeneric(n int) {
	var a, b, c, d, e, f, g, h float32 = 1, 2, 3, 4, 5, 6, 7, 8
	x, y := 1/float32(n+1), float32(n)
	for range n {
		a, b, c, d = a*x+y, b*x+y, c*x+y, d*x+y
		e, f, g, h = e*x+y, f*x+y, g*x+y, h*x+y
	}
	runtime.KeepAlive(a + b + c + d + e + f + g + h)
}

func peakDotGeneric(n int) {
	var a, b, c, d, e, f, g, h int32
	x, y := int32(n|1), int32(n)
	for range n {
		a, b, c, d = a*x+y, b*x+y, c*x+y, d*x+y
		e, f, g, h = e*x+y, f*x+y, g*x+y, h*x+y
	}
	runtime.KeepAlive(a + b + c + d + e + f + g + h)
}

func readGeneric(x []byte) (sum uint64) {
	for ; len(x) >= 64; x = x[64:] {
		sum += binary.LittleEndian.Uint64(x) ^ binary.LittleEndian.Uint64(x[8:]) ^ binary.LittleEndian.Uint64(x[16:]) ^ binary.LittleEndian.Uint64(x[24:]) ^
			binary.LittleEndian.Uint64(x[32:]) ^ binary.LittleEndian.Uint64(x[40:]) ^ binary.LittleEndian.Uint64(x[48:]) ^ binary.LittleEndian.Uint64(x[56:])
	}
	return sum
}
