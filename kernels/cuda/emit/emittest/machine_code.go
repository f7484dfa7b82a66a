package emittest

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/ptxas"
)

// MachineCode is a kernel's instructions as the GPU runs them, by name, and where its branches lead.
type MachineCode struct {
	Names   []string
	targets []int // -1: not a branch
}

// Disassemble returns the code of a module of one kernel.
func Disassemble(t *testing.T, arch, text string) MachineCode {
	t.Helper()
	listing, err := Assembler(t).Disassemble(t.Context(), arch, text)
	if errors.Is(err, ptxas.ErrNotInstalled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return parseMachineCode(listing)
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
