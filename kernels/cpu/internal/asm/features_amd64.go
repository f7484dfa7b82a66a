//go:build amd64 && !noasm

package asm

import (
	"encoding/binary"

	"golang.org/x/sys/cpu"
)

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

// readsInTurn reports whether memory is read faster at several places in turn than at one after another: Intel's processors read ahead
// by themselves in the page that is read alone, AMD's go on beyond it.
func readsInTurn() bool {
	_, b, c, d := cpuid(0)
	name := binary.LittleEndian.AppendUint32(nil, b)
	name = binary.LittleEndian.AppendUint32(name, d)
	return string(binary.LittleEndian.AppendUint32(name, c)) == "GenuineIntel"
}
