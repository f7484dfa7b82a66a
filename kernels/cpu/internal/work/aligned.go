package work

import "unsafe"

// AlignedFloats returns n zeros that begin at a cache line, many of them in huge pages where the system has these.
func AlignedFloats(n int) []float32 {
	v := make([]float32, n+Lanes)
	inHugePages(v)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(v)))%64) / 4
	return v[skip : skip+n : skip+n]
}
