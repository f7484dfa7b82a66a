package cpu

import (
	"bufio"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/cpu"

	"github.com/trtui/trtui/kernels"
)

// The instruction sets that tactics may need.
const (
	AVX512 kernels.Feature = 1 << iota // F, BW, DQ and VL
	VNNI                               // AVX512_VNNI, with AVX512
)

var featureTable = []struct {
	bit  kernels.Feature
	name string
}{{AVX512, "avx512"}, {VNNI, "vnni"}}

func detect() kernels.Feature {
	var f kernels.Feature
	if noasm {
		return 0
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL {
		f |= AVX512
		if cpu.X86.HasAVX512VNNI {
			f |= VNNI
		}
	}
	return f
}

func featureNames(f kernels.Feature) string {
	var names []string
	for _, e := range featureTable {
		if f&e.bit != 0 {
			names = append(names, e.name)
		}
	}
	if names == nil {
		return "generic"
	}
	return strings.Join(names, "+")
}

// deviceName returns the processor's own name where the system tells it.
func deviceName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return runtime.GOARCH
}
