//go:build linux

// Command torture hunts for defects until its time is up: see internal/torture. It goes on where it was when it is started
// again with the same folder; --seed begins with other networks, files and keys.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/internal/onnxruntime"
	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/internal/torture/crash"
	"github.com/trtui/trtui/internal/torture/faults"
	"github.com/trtui/trtui/internal/torture/files"
	"github.com/trtui/trtui/internal/torture/networks"
	"github.com/trtui/trtui/internal/torture/screen"
	"github.com/trtui/trtui/internal/torture/soak"
)

// hunts are all there are.
var hunts = []torture.Hunt{networks.Hunt, files.Hunt, screen.Hunt, crash.Hunt, faults.Hunt, soak.Hunt}

// options are the command line.
type options struct {
	hunts, python, program, out string
	seed                        uint64
	budget                      time.Duration
	jobs                        int
	only                        []uint
	sample                      bool

	serve, dir, keep, planted, raced string // of a worker
	time                             time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{}
	pflag.StringVar(&o.hunts, "hunts", "", "the hunts to go on, separated by commas; if empty all but the last three, which are parts of soak:\n"+listed())
	pflag.DurationVar(&o.budget, "for", 4*time.Hour, "how long")
	pflag.Uint64Var(&o.seed, "seed", 0, "where to begin; a run that goes on keeps its own")
	pflag.IntVar(&o.jobs, "jobs", 2, "workers at a time")
	pflag.StringVar(&o.out, "out", ".torture", "the folder of the state and of what is found")
	pflag.StringVar(&o.python, "python", "", "a Python that has onnxruntime; default: what TRTUI_PYTHON names, or python3")
	pflag.StringVar(&o.program, "program", "bin/trtui", "the program that files and keys are given to")
	pflag.UintSliceVar(&o.only, "only", nil, "the numbers of tries to repeat")
	pflag.BoolVar(&o.sample, "sample", false, "a few minutes' worth: the first tries of each hunt, the same ones each time")
	for name, p := range map[string]*string{"serve": &o.serve, "dir": &o.dir, "keep": &o.keep, "planted": &o.planted, "raced": &o.raced} {
		pflag.StringVar(p, name, "", "for the workers")
		_ = pflag.CommandLine.MarkHidden(name)
	}
	pflag.DurationVar(&o.time, "time", 0, "for the workers")
	_ = pflag.CommandLine.MarkHidden("time")
	pflag.Parse()
	code, err := o.run(ctx, pflag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		code = 2
	}
	os.Exit(code)
}

func listed() string {
	var lines []string
	for _, h := range append(slices.Clone(hunts), soak.Long...) {
		lines = append(lines, fmt.Sprintf("  %-9s %s", h.Name, h.Doc))
	}
	return strings.Join(lines, "\n")
}

// run returns 1 where something was found.
func (o options) run(ctx context.Context, args []string) (int, error) {
	switch {
	case o.serve != "":
		all := append(slices.Concat(hunts, soak.Long), networks.Contexts)
		i := slices.IndexFunc(all, func(h torture.Hunt) bool { return h.Name == o.serve })
		if i < 0 {
			return 2, fmt.Errorf("there is no hunt %q", o.serve)
		}
		p := torture.Place{Program: o.program, Raced: o.raced, Python: o.python, Dir: o.dir, Keep: o.keep, Planted: o.planted, Time: o.time}
		return 0, all[i].Serve(ctx, p, os.Stdin, os.Stdout)
	case len(args) == 2 && args[0] == "show":
		if err := networks.Show(ctx, args[1], o.python); err != nil {
			fmt.Println(err)
			return 1, nil
		}
		fmt.Println("all is well")
		return 0, nil
	case len(args) > 0:
		return 2, fmt.Errorf("%q is not understood; \"show FOLDER\" checks what was found, --help lists the flags", args)
	}
	return o.hunt(ctx)
}

func (o options) hunt(ctx context.Context) (int, error) {
	chosen, err := o.chosen()
	if err != nil {
		return 2, err
	}
	if o.program, err = filepath.Abs(o.program); err != nil {
		return 2, err
	}
	if _, err := os.Stat(o.program); err != nil {
		return 2, fmt.Errorf("%w; make build makes it", err)
	}
	if o.python == "" {
		o.python = findPython()
	}
	if slices.ContainsFunc(chosen, func(h torture.Hunt) bool { return h.Name == soak.Hunt.Name || h.Name == "races" }) {
		if o.raced, err = buildRaced(ctx, o.out); err != nil {
			fmt.Println("without the race detector:", err)
		}
	}
	state, err := torture.OpenState(o.out, o.seed)
	if err != nil {
		return 2, err
	}
	self, err := os.Executable()
	if err != nil {
		return 2, err
	}
	s := torture.Supervisor{Hunts: chosen, State: state, Jobs: o.jobs, For: o.budget, Out: os.Stdout, Sample: o.sample,
		Command: func(ctx context.Context, h torture.Hunt, dir string) *exec.Cmd {
			return exec.CommandContext(ctx, self, "--serve", h.Name, "--dir", dir, "--keep", filepath.Join(o.out, "kept"), "--program", o.program, "--python", o.python, "--planted", o.planted, "--raced", o.raced, "--time", o.time.String())
		}}
	if slices.ContainsFunc(chosen, isLong) {
		s.Sample = true // one try of each, as long as there is time, less what it takes to end
		o.time = o.budget * 9 / 10 / time.Duration((len(chosen)+o.jobs-1)/o.jobs)
	}
	for _, n := range o.only {
		s.Only = append(s.Only, uint64(n))
	}
	fmt.Printf("seed %d, %v, %d workers, onnxruntime of %s\n", state.Seed, o.budget, o.jobs, strconv.Quote(o.python))
	begin := time.Now()
	found, err := s.Run(ctx)
	state.Report(os.Stdout)
	if err != nil {
		return 2, err
	}
	if found > 0 {
		fmt.Printf("found: %d, in %s\n", found, filepath.Join(o.out, "found"))
		return 1, nil
	}
	fmt.Printf("nothing found in %v\n", time.Since(begin).Round(time.Second))
	return 0, nil
}

func (o options) chosen() ([]torture.Hunt, error) {
	if o.hunts == "" {
		return hunts, nil
	}
	var list []torture.Hunt
	for _, name := range strings.Split(o.hunts, ",") {
		all := slices.Concat(hunts, soak.Long)
		i := slices.IndexFunc(all, func(h torture.Hunt) bool { return h.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no hunt %q; there are\n%s", name, listed())
		}
		list = append(list, all[i])
	}
	return list, nil
}

func isLong(h torture.Hunt) bool {
	return slices.ContainsFunc(soak.Long, func(l torture.Hunt) bool { return l.Name == h.Name })
}

// buildRaced builds this command with the race detector, where there is a C compiler for that.
func buildRaced(ctx context.Context, dir string) (string, error) {
	if _, err := exec.LookPath("gcc"); err != nil {
		return "", err
	}
	program, err := filepath.Abs(filepath.Join(dir, "raced"))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-race", "-o", program, "./scripts/torture")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return program, nil
}

// findPython returns a Python that has onnxruntime: what TRTUI_PYTHON names, or python3.
func findPython() string {
	python := onnxruntime.Python()
	o, err := networks.OpenOracle(python)
	if err != nil {
		fmt.Printf("without onnxruntime: %v; --python names another\n", err)
		return ""
	}
	o.Close()
	return python
}
