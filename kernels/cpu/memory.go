package cpu

import "unsafe"

// alignedFloats returns n zeros that begin at a cache line.
func alignedFloats(n int) []float32 {
	v := make([]float32, n+lanes)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(v)))%64) / 4
	return v[skip : skip+n : skip+n]
}
