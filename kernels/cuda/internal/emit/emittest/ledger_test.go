package emittest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/ptxas"
)

// standIn is an assembler that counts its calls, and stores as many bytes of a thread as the text's second line says.
func standIn(t *testing.T) (tool *ptxas.Tool, calls func() int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ptxas.Folder)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	tool = &ptxas.Tool{Path: filepath.Join(dir, "ptxas"), Release: "1.2"}
	script := "#!/bin/sh\necho call >>" + filepath.Join(dir, "calls") + `
echo "ptxas info    : Compiling entry function 'k' for 'sm_80'"
echo "    8 bytes stack frame, $(tail -n 1) bytes spill stores, 0 bytes spill loads"
echo "ptxas info    : Used 40 registers, used 1 barriers"
`
	if err := os.WriteFile(tool.Path, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	return tool, func() int {
		log, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return len(log) / len("call\n")
	}
}

// spilling is a text of a kernel that spills so many bytes, to a stand-in.
func spilling(bytes int) string { return fmt.Sprintf(".visible .entry k()\n%d\n", bytes) }

// TestLedger: a text is assembled once for each target, also after the ledger is opened anew with a line that was cut short, and
// one that spills every time.
func TestLedger(t *testing.T) {
	tool, called := standIn(t)
	assemble := func(target, text string, calls int) {
		t.Helper()
		l, err := OpenLedger(tool, "")
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
		if n := called(); n != calls {
			t.Errorf("the assembler was called %d times, want %d", n, calls)
		}
	}
	assemble("sm_80", spilling(0), 1)
	assemble("sm_80", spilling(0), 1)
	assemble("sm_90a", spilling(0), 2)
	assemble("sm_80", spilling(12), 3)
	assemble("sm_80", spilling(12), 4)
	name := filepath.Join(filepath.Dir(tool.Path), "assembled-1.2.txt")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text[:len(text)-5], 0o666); err != nil {
		t.Fatal(err)
	}
	assemble("sm_90a", spilling(0), 5)
	assemble("sm_80", spilling(0), 5)
}

// TestLedgerRecord: what the record has is believed, but for a share of it, another each time; what is wrong there is found, and
// another release's record counts for nothing.
func TestLedgerRecord(t *testing.T) {
	tool, called := standIn(t)
	tool.Path = filepath.Join(filepath.Dir(tool.Path), "..", ptxas.Folder+"-elsewhere") // no file beside it
	if err := os.Symlink(filepath.Join(ptxas.Folder, "ptxas"), tool.Path); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(t.TempDir(), "record")
	const texts = 256
	run := func(tool *ptxas.Tool) (made string, wrong int) {
		t.Helper()
		l, err := OpenLedger(tool, record)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for i := range texts {
			a, err := l.Assemble(t.Context(), "sm_80", fmt.Sprintf("// %d\n", i)+spilling(0))
			if err != nil {
				wrong++
			} else if len(a.Kernels) != 1 || a.Kernels[0].Name != "k" || a.Kernels[0].Registers != 40 && a.Kernels[0].Registers != 44 {
				t.Fatalf("%+v", a)
			}
		}
		return l.Record(), wrong
	}
	keep := func(text string) {
		t.Helper()
		if err := os.WriteFile(record, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	made, _ := run(tool)
	if n := called(); n != texts || strings.Count(made, "\n") != texts+1 {
		t.Fatalf("%d calls without a record, which is\n%s", n, made)
	}
	keep(made)
	again, wrong := run(tool)
	if n := called() - texts; n == 0 || n > texts/4 || wrong > 0 || again != made {
		t.Errorf("%d calls with the record of %d texts, %d wrong, the same record %v", n, texts, wrong, again == made)
	}
	keep(strings.ReplaceAll(made, " 40/8\n", " 44/8\n"))
	if _, wrong := run(tool); wrong == 0 {
		t.Error("a record that is wrong is believed")
	}
	before := called()
	if _, wrong := run(&ptxas.Tool{Path: tool.Path, Release: "1.3"}); wrong > 0 || called()-before != texts {
		t.Errorf("another release's record: %d wrong, %d calls", wrong, called()-before)
	}
}
