//go:build amd64 && !noasm

package asm

// fmaLoop returns the widest loop of independent multiply-adds and its operations per iteration.
func fmaLoop() (run func(n int), flops int) {
	switch have := HostFeatures(); {
	case have.Has(AVX512):
		return peakFMAAVX512, 24 * 16 * 2
	case have.Has(AVX2):
		return peakFMAAVX2, 12 * 8 * 2
	}
	return nil, 0
}

// readLoop returns the widest loop that reads four times as many bytes as it is told, which are a multiple of 64.
func readLoop() func(p *byte, quarter int) {
	switch have := HostFeatures(); {
	case have.Has(AVX512):
		return peakReadAVX512
	case have.Has(AVX2):
		return peakReadAVX2
	}
	return nil
}
