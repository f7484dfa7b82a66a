package emittest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/ptxas"
)

// TestLedger assembles with a stand-in that counts its calls: a text is assembled once for each target, also after the ledger
// is opened anew with a line that was cut short, and one that spills every time.
func TestLedger(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ptxas.Folder)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	tool := &ptxas.Tool{Path: filepath.Join(dir, "ptxas"), Release: "1.2"}
	script := "#!/bin/sh\necho call >>" + filepath.Join(dir, "calls") + `
echo "ptxas info    : Compiling entry function 'k' for 'sm_80'"
echo "    8 bytes stack frame, $(cat) bytes spill stores, 0 bytes spill loads"
echo "ptxas info    : Used 40 registers, used 1 barriers"
`
	if err := os.WriteFile(tool.Path, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	assemble := func(target, text string, calls int) {
		t.Helper()
		l, err := OpenLedger(tool)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		a, err := l.Assemble(t.Context(), target, text)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Kernels) != 1 || a.Kernels[0].Name != "k" || a.Kernels[0].Registers != 40 || a.Kernels[0].Stack != 8 {
			t.Errorf("%+v", a)
		}
		if log, _ := os.ReadFile(filepath.Join(dir, "calls")); len(log) != calls*len("call\n") {
			t.Errorf("the assembler was called %d times, want %d", len(log)/len("call\n"), calls)
		}
	}
	assemble("sm_80", "0", 1)
	assemble("sm_80", "0", 1)
	assemble("sm_90a", "0", 2)
	assemble("sm_80", "12", 3)
	assemble("sm_80", "12", 4)
	name := filepath.Join(dir, "assembled-1.2.txt")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text[:len(text)-5], 0o666); err != nil {
		t.Fatal(err)
	}
	assemble("sm_90a", "0", 5)
	assemble("sm_80", "0", 5)
}
