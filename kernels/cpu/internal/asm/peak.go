package asm

import "time"

// FMAPeak measures the single-precision rate of one core in GFLOP/s, multiply and add counted as two: the
// upper bound that benchmarks relate to. It takes about 5 ms, and returns 0 where no assembly measures it.
func FMAPeak() float64 {
	run, flops := fmaLoop()
	if run == nil {
		return 0
	}
	const n, calls = 20000, 20
	best := time.Duration(1 << 62)
	for range calls {
		start := time.Now()
		run(n)
		best = min(best, time.Since(start))
	}
	return float64(n*flops) / float64(best.Nanoseconds())
}

// ReadAll reads x, by the widest loads, as fast as one core can, and reports whether there is assembly to. What is left of 256
// bytes at its end is not read.
func ReadAll(x []byte) bool {
	run := readLoop()
	if quarter := len(x) / 256 * 64; run != nil && quarter > 0 {
		run(&x[0], quarter)
	}
	return run != nil
}
