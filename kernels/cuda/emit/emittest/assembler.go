package emittest

import (
	"errors"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
	"github.com/trtui/trtui/kernels/cuda/ptxas"
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

// RegisterLimit returns how many registers a thread may have for as many blocks on a multiprocessor as the kernel declares.
func RegisterLimit(k *ptx.Kernel) int {
	const unit = 8 // registers of a thread are counted in eights
	threads := k.MaxThreads[0] * max(1, k.MaxThreads[1]) * max(1, k.MaxThreads[2])
	return min(255, emit.RegistersPerSM/(max(1, k.MinBlocks)*max(1, threads))/unit*unit)
}
