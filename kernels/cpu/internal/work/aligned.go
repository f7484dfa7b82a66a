package work

import "unsafe"

// AlignedFloats returns n zeros that begin at a cache line, many of them in huge pages where the system has these.
func AlignedFloats(n int) []float32 { return Aligned[float32](n) }

// Aligned is AlignedFloats for elements whose size divides a cache line's.
func Aligned[T int8 | byte | float32](n int) []T {
	var element T
	size := int(unsafe.Sizeof(element))
	v := make([]T, n+64/size)
	inHugePages(unsafe.Pointer(unsafe.SliceData(v)), size*len(v))
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(v)))%64) / size
	return v[skip : skip+n : skip+n]
}
