//go:build linux

package soak

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/internal/torture/networks"
	"github.com/trtui/trtui/internal/torture/screen"
)

// Hunt is the hunt for leaks and races.
var Hunt = torture.Hunt{
	Name: "soak", Doc: "engines built and freed, toggles for a time, 8 contexts under the race detector",
	Share: 2, Sample: 3, Limit: 20 * time.Minute, Memory: 6 << 30,
	Start: func(p torture.Place) (*torture.Worker, error) { return start(p, (*hunter).try) },
}

// Long are its parts, each of which goes on, in one process, for as long as it is given.
var Long = []torture.Hunt{
	long("engines", "engines built and freed for the whole time", (*hunter).build),
	long("toggles", "one workbench that is toggled for the whole time", (*hunter).toggle),
	long("races", "8 contexts under the race detector for the whole time", (*hunter).race),
}

type attempt func(h *hunter, ctx context.Context, seed uint64) []torture.Finding

func long(name, doc string, try attempt) torture.Hunt {
	return torture.Hunt{
		Name: name, Doc: doc, Share: 1, Sample: 1, Limit: 24 * time.Hour, Memory: 6 << 30,
		Start: func(p torture.Place) (*torture.Worker, error) { return start(p, try) },
	}
}

// Sizes of one try.
const (
	warm    = 40 // engines, before memory is looked at
	engines = 1000
	growth  = 6 << 20 // bytes by which memory may grow over them
	toggles = 30 * time.Second
	grown   = 256 << 20 // bytes by which the workbench may, histories included
	raced   = 4         // networks of one process under the race detector
)

type hunter struct {
	place   torture.Place
	engines int // at least so many are built
	count   map[string]int
}

func start(p torture.Place, try attempt) (*torture.Worker, error) {
	h := &hunter{place: p, engines: engines, count: map[string]int{}}
	return &torture.Worker{
		Try:   func(ctx context.Context, seed uint64) []torture.Finding { return try(h, ctx, seed) },
		Count: func() map[string]int { return h.count },
	}, nil
}

func (h *hunter) try(ctx context.Context, seed uint64) []torture.Finding {
	switch {
	case seed%3 == 1 && h.place.Planted == "":
		return h.toggle(ctx, seed)
	case seed%3 == 2 && h.place.Raced != "" && h.place.Planted == "":
		return h.race(ctx, seed)
	}
	return h.build(ctx, seed)
}

// build builds, runs and frees engines of one network.
func (h *hunter) build(ctx context.Context, seed uint64) []torture.Finding {
	b := networks.NewBench(nil)
	defer b.Close()
	b.Planted = h.place.Planted
	m := networks.Convolutions(seed)
	var before int64
	began, built := time.Now(), 0
	for i := 0; i < warm+h.engines || time.Since(began) < h.place.Time; i++ {
		if i == warm {
			before = held()
		}
		setup := networks.Setup{Threads: 1, Precision: []string{"fp32", "fp16", "int8"}[i%3], Calibrator: "minmax", Tactics: uint64(i), File: i%2 == 0}
		if f := b.Check(ctx, m, setup); f != nil || ctx.Err() != nil {
			return nil // what is wrong with networks is another hunt's
		}
		built = i + 1 - warm
	}
	after := held()
	h.count["engines"] += built
	h.count["KiB held before the engines"] += int(before >> 10)
	h.count["KiB held after them"] += int(after >> 10)
	if after-before > growth {
		return []torture.Finding{{Kind: "engines leak", Text: fmt.Sprintf("%d engines left %d KiB, of %d KiB before", built, (after-before)>>10, before>>10)}}
	}
	return nil
}

// held returns what this process holds when all is given back that can be.
func held() int64 {
	runtime.GC()
	debug.FreeOSMemory()
	return torture.Memory(os.Getpid())
}

// toggle has the workbench change its configuration for a time.
func (h *hunter) toggle(ctx context.Context, seed uint64) []torture.Finding {
	dir := filepath.Join(h.place.Dir, fmt.Sprint(seed))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return []torture.Finding{{Kind: "cannot begin", Text: err.Error()}}
	}
	defer os.RemoveAll(dir)
	within := max(toggles, h.place.Time)
	early, late, err := screen.Toggles(ctx, h.place, seed, dir, within)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return []torture.Finding{{Kind: "toggles: " + err.Error()}}
	}
	h.count["seconds of toggles"] += int(within / time.Second)
	h.count["KiB always held in the second third"] += int(early >> 10)
	h.count["KiB always held in the last third"] += int(late >> 10)
	if late-early > grown {
		return []torture.Finding{{Kind: "toggles leak", Text: fmt.Sprintf("from %d to %d MiB in %v", early>>20, late>>20, within), Late: true}}
	}
	return nil
}

// race runs networks in eight contexts, in processes under the race detector.
func (h *hunter) race(ctx context.Context, seed uint64) (found []torture.Finding) {
	if h.place.Raced == "" {
		return []torture.Finding{{Kind: "there is no program under the race detector"}}
	}
	for began := time.Now(); ; seed++ {
		if found = append(found, h.raceOnce(ctx, seed)...); len(found) > 0 || ctx.Err() != nil || time.Since(began) >= h.place.Time {
			return found
		}
	}
}

// raceOnce does it in one process.
func (h *hunter) raceOnce(ctx context.Context, seed uint64) []torture.Finding {
	cmd := exec.CommandContext(ctx, h.place.Raced, "--serve", networks.Contexts.Name, "--dir", h.place.Dir)
	var numbers strings.Builder
	for i := range uint64(raced) {
		fmt.Fprintln(&numbers, seed*raced+i)
	}
	cmd.Stdin = strings.NewReader(numbers.String())
	cmd.Env = append(os.Environ(), "GORACE=halt_on_error=0 exitcode=66")
	c, err := torture.Run(ctx, cmd, torture.Bounds{Time: 5 * time.Minute, Memory: 6 << 30})
	if err != nil {
		return nil
	}
	h.count["networks in 8 contexts under the race detector"] += raced
	switch {
	case strings.Contains(c.Stderr, "DATA RACE"):
		return []torture.Finding{{Kind: "a race" + between(c.Stderr), Text: c.Stderr, Command: "echo " + strings.Join(strings.Fields(numbers.String()), " ") + " | torture --serve contexts"}}
	case c.Hung:
		return []torture.Finding{{Kind: "contexts hang", Text: c.Stderr, Late: true}}
	case c.Code != 0:
		return []torture.Finding{{Kind: fmt.Sprintf("contexts end with %d", c.Code), Text: c.Stderr}}
	}
	var found []torture.Finding
	lines := bufio.NewScanner(bytes.NewReader([]byte(c.Stdout)))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r struct{ Findings []torture.Finding }
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			found = append(found, r.Findings...)
		}
	}
	return found
}

// between names the first function of ours in a race's report.
func between(report string) string {
	for _, line := range strings.Split(report, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "github.com/trtui/trtui/"); ok {
			name, _, _ = strings.Cut(name, "(")
			return " in " + name
		}
	}
	return ""
}
