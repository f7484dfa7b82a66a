package asm

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// vexOnly are the vector instructions that processors with AVX2, FMA and F16C have, as far as kernels use them: those for which
// Go's assembler writes no EVEX prefix while registers are 0 to 15.
const vexOnly = `
	VADDPD VADDPS VADDSD VADDSS VANDPD VANDPS VBLENDVPS VBROADCASTI128 VBROADCASTSS VCMPPS VCVTDQ2PS VCVTPH2PS VCVTPS2DQ
	VCVTPS2PD VCVTPS2PH VCVTSD2SS VCVTSS2SD VCVTTPS2DQ VDIVPS VDIVSD VDIVSS VEXTRACTF128 VEXTRACTI128 VFMADD213PS VFMADD231PD VFMADD231PS
	VFNMADD231PS VINSERTI128 VLDMXCSR VMASKMOVPS VMAXPD VMAXPS VMINPS VMOVAPS VMOVD VMOVDQU VMOVQ VMOVSS VMOVUPD VMOVUPS
	VMULPS VORPS VPACKUSDW VPACKUSWB VPADDD VPADDUSB VPADDW VPAND VPBROADCASTD VPBROADCASTW VPCMPEQD VPERM2F128
	VPERMD VPERMILPS VPERMPD VPERMQ VPMADDUBSW VPMADDWD VPMINUD VPMOVSXBD VPMOVZXBD VPOR VPSHUFB VPSLLD VPSLLW VPSRAD VPSRAW
	VPSRLD VPSRLQ VPSRLW VPSUBB VPSUBD VPUNPCKHDQ VPUNPCKHQDQ VPUNPCKLDQ VPUNPCKLQDQ VPXOR VROUNDPS VSHUFPS
	VSQRTPS VSQRTSD VSTMXCSR VSUBPD VSUBPS VUNPCKHPD VUNPCKHPS VUNPCKLPD VUNPCKLPS VXORPD VXORPS VZEROUPPER
`

var (
	function    = regexp.MustCompile(`^TEXT ·(\w+)\(`)
	vector      = regexp.MustCompile(`^\s+(V[A-Z0-9]+|K[A-Z]+)\b`)
	newRegister = regexp.MustCompile(`\b(Z[0-9]+|K[0-7]|[XY](1[6-9]|2[0-9]|3[01]))\b`)
)

// TestAVX2Encoding: a kernel for AVX2 has no instruction and no register that came later. The processors that run the tests have
// AVX-512, and would not say so.
func TestAVX2Encoding(t *testing.T) {
	known := map[string]bool{}
	for _, name := range strings.Fields(vexOnly) {
		known[name] = true
	}
	later := func(line string) bool {
		code, _, _ := strings.Cut(line, "//")
		m := vector.FindStringSubmatch(code)
		return m != nil && !known[m[1]] || newRegister.MatchString(code)
	}
	files, err := filepath.Glob("*_amd64.s")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	of := map[string]int{}     // functions, by what they are for
	newer := map[string]bool{} // functions for AVX-512 that have what came with it
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for line := range strings.Lines(string(text)) {
			if m := function.FindStringSubmatch(line); m != nil {
				name = m[1]
				for _, kind := range []string{"AVX2", "AVXVNNI", "AVX512"} {
					if strings.HasSuffix(name, kind) {
						of[kind]++
					}
				}
				continue
			}
			switch {
			case !later(line):
			case strings.HasSuffix(name, "AVX512"):
				newer[name] = true
			case strings.HasSuffix(name, "AVX2") || strings.HasSuffix(name, "AVXVNNI"):
				t.Errorf("%s: %s has %s", file, name, strings.TrimSpace(line))
			}
		}
	}
	if of["AVX2"] == 0 || of["AVXVNNI"] == 0 || len(newer) == 0 || len(newer) < of["AVX512"]*9/10 {
		t.Errorf("functions %v, of which %d for AVX-512 have what AVX2 has not", of, len(newer))
	}
}
