//go:build amd64 && !noasm

package asm

import (
	"testing"
	"unsafe"
)

// TestArgumentOffsets holds the structs to the offsets that the generator (_asm/qconv.go) compiles in.
func TestArgumentOffsets(t *testing.T) {
	var q qconvArgs
	var tile tileArgs
	var pack packArgs
	var r requantArgs
	for _, f := range []struct {
		name      string
		got, want uintptr
	}{
		{"qIn", unsafe.Offsetof(q.in), 0},
		{"qPixels", unsafe.Offsetof(q.pixels), 8},
		{"qSteps", unsafe.Offsetof(q.steps), 16},
		{"qNumSteps", unsafe.Offsetof(q.numSteps), 24},
		{"qWeights", unsafe.Offsetof(q.weights), 32},
		{"qStart", unsafe.Offsetof(q.start), 40},
		{"qRequant", unsafe.Offsetof(q.requant), 48},
		{"qAhead", unsafe.Offsetof(q.ahead), 56},
		{"qAheadStep", unsafe.Offsetof(q.aheadStep), 64},
		{"qFetch", unsafe.Offsetof(q.fetch), 72},
		{"qOrder", unsafe.Offsetof(q.order), 104},
		{"qRest", unsafe.Offsetof(q.rest), 112},
		{"qRestLow", unsafe.Offsetof(q.restOf), 120},
		{"tIn", unsafe.Offsetof(tile.in), 0},
		{"tQuads", unsafe.Offsetof(tile.quads), 8},
		{"tWeights", unsafe.Offsetof(tile.weights), 16},
		{"tStart", unsafe.Offsetof(tile.start), 24},
		{"tRequant", unsafe.Offsetof(tile.requant), 32},
		{"tConfig", unsafe.Offsetof(tile.config), 40},
		{"tSums", unsafe.Offsetof(tile.sums), 48},
		{"tPixels", unsafe.Offsetof(tile.pixels), 56},
		{"tAhead", unsafe.Offsetof(tile.ahead), 64},
		{"tAheadStep", unsafe.Offsetof(tile.aheadStep), 72},
		{"tStreamed", unsafe.Offsetof(tile.streamed), 80},
		{"pTo", unsafe.Offsetof(pack.to), 0},
		{"pIn", unsafe.Offsetof(pack.in), 8},
		{"pPixels", unsafe.Offsetof(pack.pixels), 16},
		{"pCount", unsafe.Offsetof(pack.count), 24},
		{"pSteps", unsafe.Offsetof(pack.steps), 32},
		{"pQuads", unsafe.Offsetof(pack.quads), 40},
		{"rScale", unsafe.Offsetof(r.scale), 0},
		{"rBias", unsafe.Offsetof(r.bias), 8},
		{"rOut", unsafe.Offsetof(r.out), 16},
		{"rOutPixel", unsafe.Offsetof(r.outPixel), 24},
		{"rOutBlock", unsafe.Offsetof(r.outBlock), 32},
		{"rRes", unsafe.Offsetof(r.residual), 40},
		{"rResPixel", unsafe.Offsetof(r.residualPixel), 48},
		{"rResBlock", unsafe.Offsetof(r.residualBlock), 56},
		{"rInner", unsafe.Offsetof(r.inner), 64},
		{"rOuter", unsafe.Offsetof(r.outer), 72},
		{"rResScale", unsafe.Offsetof(r.residualScale), 80},
		{"rResZero", unsafe.Offsetof(r.residualZero), 84},
		{"rOutScale", unsafe.Offsetof(r.outScale), 88},
		{"rOutZero", unsafe.Offsetof(r.outZero), 92},
		{"rBetween", unsafe.Offsetof(r.betweenScale), 120},
		{"rBetweenLimits", unsafe.Offsetof(r.between), 124},
		{"rBetweenInverse", unsafe.Offsetof(r.betweenInverse), 132},
		{"rActivation", unsafe.Offsetof(r.activation), 140},
		{"rSums", unsafe.Offsetof(r.sums), 144},
		{"rRows", unsafe.Offsetof(r.rows), 152},
		{"rClampInner", unsafe.Offsetof(r.clampInner), 96},
		{"rStoreFloat", unsafe.Offsetof(r.storeFloat), 100},
		{"rResFloat", unsafe.Offsetof(r.residualFloat), 104},
		{"rFlip", unsafe.Offsetof(r.flip), 108},
		{"rInverse", unsafe.Offsetof(r.inverse), 112},
	} {
		if f.got != f.want {
			t.Errorf("%s is at %d, the assembly reads it at %d", f.name, f.got, f.want)
		}
	}
}
