package emittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// MachineCode is a kernel's instructions as the GPU runs them, by name, and where its branches lead.
type MachineCode struct {
	Names   []string
	targets []int // -1: not a branch
}

// Disassemble returns the code of a module of one kernel.
func Disassemble(t *testing.T, arch, text string) MachineCode {
	t.Helper()
	ptxas := Assembler(t)
	disassembler := filepath.Join(filepath.Dir(ptxas), "nvdisasm")
	if _, err := os.Stat(disassembler); err != nil {
		t.Skip("nvdisasm is not installed beside ptxas")
	}
	dir := t.TempDir()
	in, cubin := filepath.Join(dir, "kernel.ptx"), filepath.Join(dir, "kernel.cubin")
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(ptxas, "-arch="+arch, in, "-o", cubin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(disassembler, "-c", cubin).Output()
	if err != nil {
		t.Fatal(err)
	}
	return parseMachineCode(string(out))
}

var (
	machineLabel  = regexp.MustCompile(`^(\.L_x_\d+):`)
	machineInst   = regexp.MustCompile(`^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_]+)(.*);`)
	machineTarget = regexp.MustCompile(`\(?(\.L_x_\d+)\)?`)
)

func parseMachineCode(text string) MachineCode {
	var c MachineCode
	labels, leads := map[string]int{}, map[int]string{}
	for line := range strings.Lines(text) {
		if m := machineLabel.FindStringSubmatch(line); m != nil {
			labels[m[1]] = len(c.Names)
			continue
		}
		m := machineInst.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if to := machineTarget.FindStringSubmatch(m[2]); to != nil && m[1] == "BRA" {
			leads[len(c.Names)] = to[1]
		}
		c.Names, c.targets = append(c.Names, m[1]), append(c.targets, -1)
	}
	for at, label := range leads {
		if to, ok := labels[label]; ok {
			c.targets[at] = to
		}
	}
	return c
}

// Counts returns how often each instruction occurs in a range.
func (c MachineCode) Counts(from, to int) map[string]int {
	n := map[string]int{}
	for _, name := range c.Names[from:to] {
		n[name]++
	}
	return n
}

// MainLoop returns the counts of the loop with the most of an instruction, and of all its instructions.
func (c MachineCode) MainLoop(name string) (counts map[string]int, all int) {
	for at, to := range c.targets {
		if to < 0 || to > at {
			continue
		}
		if n := c.Counts(to, at+1); n[name] > counts[name] {
			counts, all = n, at+1-to
		}
	}
	return counts, all
}

// Loop returns the names of the instructions of the loop with the most of one, in order.
func (c MachineCode) Loop(name string) []string {
	var loop []string
	most := 0
	for at, to := range c.targets {
		if to < 0 || to > at {
			continue
		}
		if n := c.Counts(to, at+1)[name]; n > most {
			most, loop = n, c.Names[to:at+1]
		}
	}
	return loop
}
