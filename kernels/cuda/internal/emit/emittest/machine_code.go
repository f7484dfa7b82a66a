package emittest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/kernels/cuda/internal/ptxas"
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

// MainLoop returns the loop with the most of an instruction; an empty one where none has it.
func (c MachineCode) MainLoop(name string) Loop {
	var main Loop
	most := 0
	for at, to := range c.targets {
		if to < 0 || to > at {
			continue
		}
		if n := c.Counts(to, at+1)[name]; n > most {
			main, most = Loop(c.Names[to:at+1]), n
		}
	}
	return main
}

// Loop is the instructions of a loop, by name. The first follows the last.
type Loop []string

// Count returns how many instructions have one of some names.
func (l Loop) Count(names ...string) int {
	n := 0
	for _, name := range l {
		if slices.Contains(names, name) {
			n++
		}
	}
	return n
}

// Share returns the part of the instructions that are of a name.
func (l Loop) Share(name string) float64 { return float64(l.Count(name)) / float64(max(1, len(l))) }

// Gap returns the most instructions, and the most of some of them, that stand between two of a name: what the unit that
// executes these waits for where nothing else is under way. Without any, all stand together.
func (l Loop) Gap(name string, some ...string) (longest, most int) {
	first := slices.Index(l, name)
	if first < 0 {
		return len(l), l.Count(some...)
	}
	var run Loop
	for i := range l {
		at := l[(first+1+i)%len(l)]
		if at != name {
			run = append(run, at)
			continue
		}
		longest, most, run = max(longest, len(run)), max(most, run.Count(some...)), run[:0]
	}
	return longest, most
}

// LoopBounds are what a main loop keeps to.
type LoopBounds struct {
	Share     int // percent of the instructions that multiply, at least
	Gap       int // instructions between two that multiply, at most
	Together  int // copies and loads of shared memory among them, at most: fewer are spread between products
	Addresses int // instructions of integer arithmetic, at most
}

// Measure returns the bounds that a loop just keeps to.
func (l Loop) Measure(product string) LoopBounds {
	gap, together := l.Gap(product, "LDGSTS", "LDSM", "LDS")
	return LoopBounds{int(100 * l.Share(product)), gap, together, l.Count("IADD3", "IMAD", "LOP3", "SHF", "LEA")}
}

// Lint tells where a loop does not keep to its bounds.
func (l Loop) Lint(product string, b LoopBounds) []string {
	var list []string
	m := l.Measure(product)
	if m.Share < b.Share {
		list = append(list, fmt.Sprintf("%d %% of the loop's instructions are %s, want %d", m.Share, product, b.Share))
	}
	for _, c := range []struct {
		is, most int
		what     string
	}{
		{m.Gap, b.Gap, "instructions between two " + product},
		{m.Together, b.Together, "copies and loads between two " + product},
		{m.Addresses, b.Addresses, "instructions of integer arithmetic in the loop"},
	} {
		if c.is > c.most {
			list = append(list, fmt.Sprintf("%d %s, want at most %d", c.is, c.what, c.most))
		}
	}
	return list
}
