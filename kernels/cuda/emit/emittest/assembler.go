package emittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/emit"
	"github.com/trtui/trtui/kernels/cuda/ptx"
)

// Assembler returns NVIDIA's assembler, where it is installed.
func Assembler(t *testing.T) string {
	t.Helper()
	if p := os.Getenv("TRTUI_PTXAS"); p != "" {
		return p
	}
	p, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not installed; TRTUI_PTXAS names one")
	}
	return p
}

var (
	registersUsed = regexp.MustCompile(`Used (\d+) registers`)
	spilled       = regexp.MustCompile(`(\d+) bytes spill stores`)
)

// Assembled is what the assembler says of a module's greediest kernel.
type Assembled struct {
	Registers, Spills int
	Lost              []string // lines that tell of lost speed, and warnings
}

// Assemble gives a module to the assembler.
func Assemble(t *testing.T, ptxas, arch, text string) Assembled {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, "kernel.ptx")
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(ptxas, "-v", "-arch="+arch, in, "-o", filepath.Join(dir, "kernel.cubin")).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", arch, err, out)
	}
	most := func(re *regexp.Regexp) int {
		n := 0
		for _, m := range re.FindAllSubmatch(out, -1) {
			v, _ := strconv.Atoi(string(m[1])) // digits by the expression
			n = max(n, v)
		}
		return n
	}
	return Assembled{most(registersUsed), most(spilled), slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool {
		return !strings.Contains(line, "(C") && !strings.Contains(line, "warning")
	})}
}

// RegisterLimit returns how many registers a thread may have for as many blocks on a multiprocessor as the kernel declares.
func RegisterLimit(k *ptx.Kernel) int {
	const unit = 8 // registers of a thread are counted in eights
	threads := k.MaxThreads[0] * max(1, k.MaxThreads[1]) * max(1, k.MaxThreads[2])
	return min(255, emit.RegistersPerSM/(max(1, k.MinBlocks)*max(1, threads))/unit*unit)
}
