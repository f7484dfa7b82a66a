package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// inspectCache shows the timing cache: as it is, or as the build of a model found and left it.
func inspectCache(t tables) *cobra.Command {
	o := onBackends(t)
	c := &cobra.Command{
		Use:        "cache [MODEL|ENGINE]",
		SuggestFor: []string{"timing-cache", "timings"},
		Short:      "Show the timing cache: its file, the devices in it, and every time that it has; of a model, what it answers",
		Long: "Show the timing cache that --timing-cache names: the devices whose times it has, and a row for each tactic that was\n" +
			"measured on a layer. Times of other devices, or of another build of the kernels, are stale: they answer nothing on\n" +
			"--backend. With a model it is built first, which measures what is missing, and hits and misses are its.",
		Example: examples("what is in the timing cache", "trtui inspect cache",
			"how much of a model it answers", "trtui inspect cache model.onnx --precision int8",
			"of a file and another device", "trtui inspect cache --timing-cache shared.jsonl --backend cudasim"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, head, err := o.timedTactics(c.Context(), c.ErrOrStderr(), args)
			if err != nil {
				return err
			}
			if o.output.json() {
				return writeReport(c.OutOrStdout(), head, r)
			}
			writeCache(c.OutOrStdout(), r, time.Now())
			return nil
		},
	}
	o.register(c, takeAll&^takeLabels)
	o.usual = true
	return c
}

// timedTactics returns what the timing cache has, once the model that is named, if one is, was built with it.
func (o *modelFlags) timedTactics(ctx context.Context, stderr io.Writer, args []string) (*report.TimingCache, report.Head, error) {
	if err := o.check(); err != nil {
		return nil, report.Head{}, err
	}
	file := o.device.timings
	if file == "none" || file == "" {
		return nil, report.Head{}, usageError{errors.New("--timing-cache none: there is no file to show")}
	}
	device, err := o.device.open(o.device.backend)
	if err != nil {
		return nil, report.Head{}, err
	}
	defer device.Close()
	if len(args) == 0 {
		d := describe.Device(device)
		cache, err := build.OpenTimingCache(file)
		if err != nil {
			return nil, report.Head{}, err
		}
		if err := cache.Damaged(); err != nil {
			warner(stderr)(fmt.Sprintf("timing cache %s: %s", file, err))
		}
		target := device.Info().Fingerprint
		return report.NewTimingCache(file, target, describe.Cache(cache, target)), report.Head{Device: &d}, nil
	}
	snap, err := o.report(ctx, stderr, args[0], report.PartTactics, run.Profiling{})
	if err != nil {
		return nil, report.Head{}, err
	}
	t := snap.Tactics
	c := report.NewTimingCache(file, device.Info().Fingerprint, t.Cache)
	c.Hits, c.Misses = &t.CacheHits, &t.CacheMisses
	return c, snap.Head(), nil
}

func writeCache(w io.Writer, c *report.TimingCache, now time.Time) {
	fmt.Fprintf(w, "%s: %s, %d of them stale", c.File, entries(len(c.Entries)), c.Stale)
	if c.Disturbed > 0 {
		fmt.Fprintf(w, ", %d measured while the machine did something else", c.Disturbed)
	}
	fmt.Fprintln(w)
	if c.Hits != nil {
		fmt.Fprintf(w, "this build: %s, %d misses\n", count(*c.Hits, "hit"), *c.Misses)
	}
	fmt.Fprintln(w)
	var rows [][]string
	for _, d := range c.Devices {
		which := "other"
		if d.This {
			which = "this"
		}
		rows = append(rows, []string{which, fmt.Sprint(d.Entries), age(now, d.Newest), age(now, d.Oldest), d.Target})
	}
	writeTable(w, []string{"device", ">entries", ">newest", ">oldest", "fingerprint"}, rows)
	if len(c.Entries) == 0 {
		return
	}
	fmt.Fprintln(w)
	rows = nil
	for _, e := range c.Entries {
		which, spread := "this", ""
		if e.Stale {
			which = "other"
		}
		if e.Spread > 0 {
			spread = fmt.Sprintf("%.0f", 100*e.Spread)
		}
		if e.Disturbed {
			spread = "!" + spread
		}
		rows = append(rows, []string{e.Tactic, us(e.Time), spread, age(now, e.Measured), which, ui.VisibleName(strings.ReplaceAll(e.Layer, "\n", " "))})
	}
	writeTable(w, []string{"tactic", ">µs", "~>spread %", ">age", "device", "@measured layer"}, rows)
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// age writes how long ago something was, in its largest unit; nothing where that is not known.
func age(now, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return ui.Age(now.Sub(at))
}
