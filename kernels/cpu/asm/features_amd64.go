//go:build amd64 && !noasm

package asm

import "golang.org/x/sys/cpu"

// HostFeatures returns what this CPU and operating system offer of the extensions that kernels use.
func HostFeatures() Features {
	var have Features
	x := &cpu.X86
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasFMA && x.HasBMI2 {
		have |= AVX512
	}
	if x.HasAVX512VNNI {
		have |= AVX512VNNI
	}
	return have
}
