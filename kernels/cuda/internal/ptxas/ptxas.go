// Package ptxas runs NVIDIA's assembler and disassembler, where these are installed: make ptxas does that. They need no GPU
// and say what a driver's compiler would: registers, spills, and the instructions that a GPU runs.
package ptxas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// ErrNotInstalled is what Find returns where there is no assembler.
var ErrNotInstalled = errors.New("ptxas is not installed: make ptxas installs it, TRTUI_PTXAS names one")

// Tool is an assembler and the release it is of, such as 13.0.88.
type Tool struct{ Path, Release string }

// Find returns the assembler that TRTUI_PTXAS names, else that of the checkout around the working directory, else that of
// PATH; ErrNotInstalled where there is none or TRTUI_PTXAS is "none", and an error where one is there and does not run.
func Find() (*Tool, error) {
	path := os.Getenv("TRTUI_PTXAS")
	if path == "" {
		path = installed()
	}
	switch path {
	case "none":
		return nil, ErrNotInstalled
	case "":
		p, err := exec.LookPath("ptxas")
		if err != nil {
			return nil, ErrNotInstalled
		}
		path = p
	}
	out, err := exec.Command(path, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", path, err)
	}
	m := release.FindSubmatch(out)
	if m == nil {
		return nil, fmt.Errorf("%s --version tells no release: %.200q", path, out)
	}
	return &Tool{path, string(m[1])}, nil
}

var release = regexp.MustCompile(`release [\d.]+, V([\d.]+)`)

// Folder is where make ptxas puts the tools, from the module's root.
const Folder = ".nvidia"

// installed returns the assembler of the module that the working directory is in; "" where it has none.
func installed() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			path := filepath.Join(dir, Folder, "ptxas")
			if _, err := os.Stat(path); err != nil {
				return ""
			}
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// Kernel is what the assembler says of a kernel. A spill is the bytes that a thread stores in local memory and loads again
// since registers did not suffice; the stack has them and what the kernel itself keeps there.
type Kernel struct {
	Name                           string
	Registers                      int // of a thread
	Stack, SpillStores, SpillLoads int // bytes of a thread
}

// Assembled is what the assembler makes of a module.
type Assembled struct {
	Kernels  []Kernel
	Warnings []string // lines that warn, and those that tell of lost speed
}

// Assemble gives a module's text to the assembler, for a target such as sm_90a.
func (t *Tool) Assemble(ctx context.Context, target, text string) (Assembled, error) {
	out, err := t.run(ctx, target, text, os.DevNull)
	if err != nil {
		return Assembled{}, err
	}
	return parse(out)
}

// run assembles a text, into a file, and returns what is said of it.
func (t *Tool) run(ctx context.Context, target, text, file string) (string, error) {
	c := exec.CommandContext(ctx, t.Path, "-v", "-arch="+target, "-o", file, "-")
	c.Stdin = strings.NewReader(text)
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s -arch=%s: %w\n%s", t.Path, target, err, out)
	}
	return string(out), nil
}

var (
	compiling = regexp.MustCompile(`Compiling entry function '(\S+)'`)
	frame     = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	used      = regexp.MustCompile(`Used (\d+) registers`)
)

// parse reads what the assembler says with -v.
func parse(out string) (Assembled, error) {
	var a Assembled
	for line := range strings.Lines(out) {
		if m := compiling.FindStringSubmatch(line); m != nil {
			a.Kernels = append(a.Kernels, Kernel{Name: m[1]})
		}
		if strings.Contains(line, "(C") || strings.Contains(line, "warning") {
			a.Warnings = append(a.Warnings, strings.TrimSpace(line))
		}
		if len(a.Kernels) == 0 {
			continue
		}
		k := &a.Kernels[len(a.Kernels)-1]
		if m := frame.FindStringSubmatch(line); m != nil {
			k.Stack, k.SpillStores, k.SpillLoads = number(m[1]), number(m[2]), number(m[3])
		}
		if m := used.FindStringSubmatch(line); m != nil {
			k.Registers = number(m[1])
		}
	}
	for _, k := range a.Kernels {
		if k.Registers == 0 {
			return a, fmt.Errorf("ptxas tells no registers of kernel %s: %.500q", k.Name, out)
		}
	}
	return a, nil
}

// number reads digits; what does not fit an int is as bad as the most that does.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return int(^uint(0) >> 1)
	}
	return n
}

// Disassemble returns the listing of a module's machine code for a target; ErrNotInstalled where there is no nvdisasm beside
// the assembler.
func (t *Tool) Disassemble(ctx context.Context, target, text string) (string, error) {
	disassembler := filepath.Join(filepath.Dir(t.Path), "nvdisasm")
	if _, err := os.Stat(disassembler); err != nil {
		return "", fmt.Errorf("nvdisasm: %w", ErrNotInstalled)
	}
	f, err := os.CreateTemp("", "trtui-*.cubin")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return "", err
	}
	if _, err := t.run(ctx, target, text, f.Name()); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, disassembler, "-c", f.Name())
	var messages bytes.Buffer
	c.Stderr = &messages
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("nvdisasm: %w\n%s", err, messages.String())
	}
	return string(out), nil
}
