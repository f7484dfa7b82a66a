package asm

import (
	"fmt"
	"strings"
)

// Features is a set of instruction set extensions that a kernel needs or a CPU has.
type Features uint32

const (
	AVX512     Features = 1 << iota // F, BW, DQ, VL, FMA and BMI2: what "avx512" in a kernel's name means
	AVX512VNNI                      // VPDPBUSD on ZMM registers
	AVX2                            // with FMA, F16C and BMI2
	AVXVNNI                         // VPDPBUSD on YMM registers, in VEX encoding
	AMXInt8                         // TDPBUSD on tile registers, which the system has granted
)

// level is which assembly a kernel has whose calls stay on the stack: a switch on it rather than a function value.
type level uint8

const (
	pureGo level = iota
	avx2
	avxVNNI
	avx512 // with VNNI where the kernel multiplies bytes
	amx
)

// featureNames are the extensions in the order in which a set names them. One that another makes needless is not named.
var featureNames = []struct {
	name    string
	bit     Features
	within  Features // what includes it for our purposes
	implies Features // what every CPU that has it has, too
}{
	{"avx512", AVX512, 0, AVX2},
	{"vnni", AVX512VNNI, 0, AVX512 | AVX2},
	{"amx", AMXInt8, 0, AVX512VNNI | AVX512 | AVX2},
	{"avx2", AVX2, AVX512, 0},
	{"avxvnni", AVXVNNI, AVX512VNNI, AVX2},
}

// Has reports whether s contains all of need.
func (s Features) Has(need Features) bool { return s&need == need }

// String names the extensions of the set, as in "avx512+vnni"; "generic" is the empty set.
func (s Features) String() string {
	var names []string
	for _, f := range featureNames {
		if s.Has(f.bit) && (f.within == 0 || !s.Has(f.within)) {
			names = append(names, f.name)
		}
	}
	if names == nil {
		return "generic"
	}
	return strings.Join(names, "+")
}

// ParseFeatures reads what String writes.
func ParseFeatures(text string) (Features, error) {
	var s Features
	if text == "generic" {
		return s, nil
	}
	var known []string
	for _, f := range featureNames {
		known = append(known, f.name)
	}
next:
	for name := range strings.SplitSeq(text, "+") {
		for _, f := range featureNames {
			if f.name == name {
				s |= f.bit | f.implies
				continue next
			}
		}
		return 0, fmt.Errorf("%q is not a CPU feature: write generic, or some of %s with + in between", name, strings.Join(known, ", "))
	}
	return s, nil
}
