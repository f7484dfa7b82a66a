package work

import "unsafe"

// AlignedFloats returns n zeros that begin at a cache line.
func AlignedFloats(n int) []float32 {
	v := make([]float32, n+Lanes)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(v)))%64) / 4
	return v[skip : skip+n : skip+n]
}
