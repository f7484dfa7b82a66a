package ptx

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ptxas is NVIDIA's assembler: TRTUI_PTXAS or the one in PATH. The test is skipped where there is none.
func ptxas(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("TRTUI_PTXAS"); path != "" {
		return path
	}
	path, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas: set TRTUI_PTXAS to the assembler of a CUDA toolkit to check the PTX with it")
	}
	return path
}

// assemble runs ptxas over a text for its own target or a later one and returns what it says.
func assemble(t *testing.T, text string, target Target) (string, error) {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "k.ptx")
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(ptxas(t), "-v", "-O0", "-arch", target.String(), "-o", filepath.Join(dir, "k.cubin"), src).CombinedOutput()
	return string(out), err
}

// oldest is the oldest target of the assembler that we look at.
const oldest = 75

// TestTableAssembles has ptxas assemble every form of the table, each with just the ISA version and the target that the
// table says it needs.
func TestTableAssembles(t *testing.T) {
	ptxas(t)
	k := instanceKernel()
	groups := map[Need][]Inst{}
	var needs []Need
	for _, in := range instances(k) {
		m, err := in.Match(k)
		if err != nil {
			t.Errorf("%s: %v", k.Text(&in), err)
			continue
		}
		need := m.Need()
		need.Target.SM = max(need.Target.SM, oldest)
		need.Version = max(need.Version, need.Target.minVersion())
		if groups[need] == nil {
			needs = append(needs, need)
		}
		groups[need] = append(groups[need], in)
	}
	slices.SortFunc(needs, func(a, b Need) int { return int(a.Version-b.Version)*1000 + a.Target.SM - b.Target.SM })
	place := regexp.MustCompile(`line (\d+); (.*)`)
	for _, need := range needs {
		k.Body = groups[need]
		text := (&Module{Version: need.Version, Target: need.Target, Kernels: []*Kernel{k}}).String()
		said, err := assemble(t, text, need.Target)
		if err == nil {
			continue
		}
		lines := strings.Split(text, "\n")
		faults := place.FindAllStringSubmatch(said, 40)
		for _, f := range faults {
			if n, _ := strconv.Atoi(f[1]); n > 0 && n <= len(lines) {
				t.Errorf("%s %s: %s: %s", need.Version, need.Target, strings.TrimSpace(lines[n-1]), f[2])
			}
		}
		if len(faults) == 0 {
			t.Errorf("%s %s: %v: %s", need.Version, need.Target, err, said)
		}
	}
}
