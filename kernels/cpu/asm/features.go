package asm

// Features is a set of instruction set extensions that a kernel needs or a CPU has.
type Features uint32

const (
	AVX512     Features = 1 << iota // F, BW, DQ, VL, FMA and BMI2: what "avx512" in a kernel's name means
	AVX512VNNI                      // VPDPBUSD on ZMM registers
)

// Has reports whether s contains all of need.
func (s Features) Has(need Features) bool { return s&need == need }

// String names the extensions of the set, as in "avx512+vnni"; "generic" is the empty set.
func (s Features) String() string {
	text := ""
	for _, f := range []struct {
		bit  Features
		name string
	}{{AVX512, "avx512"}, {AVX512VNNI, "vnni"}} {
		if s.Has(f.bit) {
			if text != "" {
				text += "+"
			}
			text += f.name
		}
	}
	if text == "" {
		return "generic"
	}
	return text
}
