//go:build amd64 && !noasm

package asm

import "golang.org/x/sys/cpu"

// HostFeatures returns what this CPU and operating system offer of the extensions that kernels use.
func HostFeatures() Features {
	var have Features
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasFMA || !x.HasBMI2 || !x.HasF16C {
		return 0
	}
	have |= AVX2
	if x.HasAVXVNNI {
		have |= AVXVNNI
	}
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL {
		have |= AVX512
		if x.HasAVX512VNNI {
			have |= AVX512VNNI
			if x.HasAMXTile && x.HasAMXInt8 && mayUseTiles() {
				have |= AMXInt8
			}
		}
	}
	return have
}
