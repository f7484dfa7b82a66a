package emittest

import (
	"errors"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/emit"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxas"
)

// Assembler returns NVIDIA's assembler; where none is installed the test is skipped.
func Assembler(t *testing.T) *ptxas.Tool {
	t.Helper()
	tool, err := ptxas.Find()
	if errors.Is(err, ptxas.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// Registers gives a module to the assembler for a target and returns the registers of its greediest kernel. Local memory and
// warnings fail the test.
func Registers(t *testing.T, tool *ptxas.Tool, target, text string) int {
	t.Helper()
	a, err := tool.Assemble(t.Context(), target, text)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, k := range a.Kernels {
		if most = max(most, k.Registers); k.Stack > 0 {
			t.Errorf("%s: kernel %s has %d bytes of local memory", target, k.Name, k.Stack)
		}
	}
	if len(a.Warnings) > 0 {
		t.Errorf("%s: %q", target, a.Warnings)
	}
	return most
}

// RegisterLimit returns how many registers a thread may have for as many blocks on a multiprocessor as the kernel declares.
func RegisterLimit(k *ptx.Kernel) int {
	const unit = 8 // registers of a thread are counted in eights
	threads := k.MaxThreads[0] * max(1, k.MaxThreads[1]) * max(1, k.MaxThreads[2])
	return min(255, emit.RegistersPerSM/(max(1, k.MinBlocks)*max(1, threads))/unit*unit)
}
