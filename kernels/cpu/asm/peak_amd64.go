//go:build amd64 && !noasm

package asm

// fmaLoop returns the widest loop of independent multiply-adds and its operations per iteration.
func fmaLoop() (run func(n int), flops int) {
	if HostFeatures().Has(AVX512) {
		return peakFMAAVX512, 24 * 16 * 2
	}
	return nil, 0
}
