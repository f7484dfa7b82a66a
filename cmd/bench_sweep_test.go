package cmd

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/views/pane/panetest"
)

func TestParseSweep(t *testing.T) {
	for text, want := range map[string]string{
		"batch=1..10":           "[{batch [1 2 4 8 10] false}]",
		"batch=3..3":            "[{batch [3] false}]",
		"seq=16..40:8, batch=2": "[{seq [16 24 32 40] false} {batch [2] false}]",
		"seq=16..33:16":         "[{seq [16 32 33] false}]",
		"a=1..16777216:1":       "more than 1024 points",
		"a=1..100:1,b=1..100:1": "more than 1024 points",
		"":                      "want AXIS=LOW..HIGH",
		"batch":                 "want AXIS=LOW..HIGH",
		"=1..2":                 "want AXIS=LOW..HIGH",
		"a=1..2,a=3":            "axis a is there twice",
		"a=2..1":                "1 is less than 2",
		"a=0..4":                "\"0\" is not an extent",
		"a=1..99999999":         "is not an extent",
		"a=1..x":                "\"x\" is not an extent",
		"a=1..4:0":              "\"0\" is not an extent",
		"a=1..4:-1":             "\"-1\" is not an extent",
	} {
		axes, err := parseSweep(text)
		got := fmt.Sprint(axes)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestSweepUnstable: that the best point was not measured well is said beside it; a short time has three digits.
func TestSweepUnstable(t *testing.T) {
	s := &report.Sweep{Axes: []report.SweepAxis{{Name: "batch", Values: []int{1}, Items: true}}, Points: []report.SweepPoint{
		{Values: []int{1}, Best: true, Within: true, Latency: report.Latency{Median: 5123, CV: 0.1}}}}
	var out strings.Builder
	writeSweep(&out, report.Head{Model: &report.ModelHead{}, Device: &report.Device{}, Config: &config.Config{}}, s)
	if !strings.Contains(out.String(), "best, unstable: CV 10.0 %") || !strings.Contains(out.String(), "0.00512") {
		t.Error(out.String())
	}
}

// TestSweepOfItems: along an axis that does not count items there is no best, and within a limit the largest is.
func TestSweepOfItems(t *testing.T) {
	point := func(n int, median time.Duration) report.SweepPoint {
		return report.SweepPoint{Values: []int{n}, Latency: report.Latency{Median: median}}
	}
	for limit, want := range map[time.Duration]string{
		0:                    "no axis counts items: --latency-limit marks",
		3 * time.Millisecond: "largest within 3.000 ms: seq=32, 2.000 ms",
		3 * time.Nanosecond:  "no point has a median latency",
	} {
		s := &report.Sweep{Axes: []report.SweepAxis{{Name: "seq"}}, LatencyLimit: limit,
			Points: []report.SweepPoint{point(16, time.Millisecond), point(32, 2*time.Millisecond), point(64, 4*time.Millisecond)}}
		s.Choose()
		var out strings.Builder
		writeSweep(&out, report.Head{Model: &report.ModelHead{}, Device: &report.Device{}, Config: &config.Config{}}, s)
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nwant %q", out.String(), want)
		}
	}
}

// TestSweepGrid: over two axes the medians are a grid, too, in which the best of each size of item and what is over the limit are marked.
func TestSweepGrid(t *testing.T) {
	s := &panetest.Served().Grids[0]
	s.LatencyLimit = 2 * time.Millisecond
	s.Choose()
	var out strings.Builder
	writeSweep(&out, report.Head{Model: &report.ModelHead{}, Device: &report.Device{}, Config: &config.Config{}}, s)
	for _, want := range []string{
		"median ms, batch down and length across; * best; in brackets: over the limit\n",
		"batch        1       4      16       64       256       512\n",
		"    4   0.0300   0.120   0.480   *1.920   (7.680)  (15.360)\n",
		"best within 2.000 ms: the most items/s at each size of item",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nwant %q", out.String(), want)
		}
	}
}

// TestSweepPicture: the picture of the screen Runtime has what is measured over the axes, by the key that goes on to it.
func TestSweepPicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runtime.svg")
	if out, err := call(t, exportCommand(tables{backends: testTable()}), "svg", "--screen", "8", "--press", "tab,tab,=", "-o", file, "--minShapes", "1x1x32x32", "--maxShapes", "4x1x32x32", "-q"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	picture, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(picture), "at most") || !strings.Contains(string(picture), "best") {
		t.Errorf("%v: the picture has no best batch within a latency", err)
	}
}

// TestSweep: a sweep has a point for each combination, of an engine that is built once for all of them, and of one that there is.
func TestSweep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digits.engine")
	if out, err := call(t, buildCommand(tables{backends: testTable()}), "--minShapes", "1x1x32x32", "--maxShapes", "4x1x32x32",
		"--profile", "1", "--minShapes", "5x1x32x32", "--maxShapes", "8x1x32x32", "-o", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	args := []string{"--duration", "1ms", "--iterations", "2", "--warm-up", "0", "-q"}
	for _, model := range [][]string{nil, {file}} {
		out, err := call(t, benchCommand(tables{backends: testTable()}), append(append(args, "--format", "json", "--sweep", "batch=1..8"), model...)...)
		var got struct {
			Config struct{ Max_shapes []any }
			Axes   []struct{ Name string }
			Points []struct {
				Values                   []int
				Profile, Batch           int
				Memory_bytes, Held_bytes int
				Best, Within_limit       bool
				Throughput_items_per_s   float64
				Latency                  struct{ Median_ms float64 }
			}
		}
		if err != nil || json.Unmarshal([]byte(out), &got) != nil || len(got.Points) != 4 || got.Axes[0].Name != "batch" || len(got.Config.Max_shapes) != 1 {
			t.Fatalf("%v\n%s", err, out)
		}
		best, before := 0, 0
		for i, p := range got.Points {
			if p.Values[0] != 1<<i || p.Batch != 1<<i || p.Memory_bytes <= before || p.Memory_bytes > p.Held_bytes || !p.Within_limit || p.Throughput_items_per_s <= 0 {
				t.Errorf("%v", p)
			}
			if rate := float64(p.Batch) * 1e3 / p.Latency.Median_ms; math.Abs(p.Throughput_items_per_s/rate-1) > 1e-9 {
				t.Errorf("%g items/s at a median of %g ms, batch %d", p.Throughput_items_per_s, p.Latency.Median_ms, p.Batch)
			}
			if (p.Profile == 1) != (model != nil && p.Batch > 4) {
				t.Errorf("batch %d is of profile %d", p.Batch, p.Profile)
			}
			if before = p.Memory_bytes; p.Best {
				best++
			}
		}
		if best != 1 {
			t.Errorf("%d points are the best", best)
		}
	}
	if out, err := call(t, benchCommand(tables{backends: testTable()}), append(args, "--backend", "sim", "--sweep", "batch=1..2")...); err != nil || !strings.Contains(out, "on sim (") {
		t.Errorf("on a simulated device: %v\n%s", err, out)
	}
	testContexts(t, file, args)
	out, err := call(t, benchCommand(tables{backends: testTable()}), append(args, "--sweep", "batch=1..2", "--latency-limit", "1ns")...)
	if err != nil || strings.Count(out, "over the limit") != 2 || !strings.Contains(out, "no point has a median latency") {
		t.Errorf("with a limit that nothing keeps: %v\n%s", err, out)
	}
	for _, c := range []struct{ args, want string }{
		{"--sweep batch=1..16 " + file, "input image: axis 0"},
		{"--sweep height=1..16", "no input has it; open are"},
		{"--sweep batch=1..2 --per-layer", "give one of the two"},
		{"--latency-limit 1ms", "give --sweep too"},
		{"--backend sim --sweep contexts=1..2", "computed for one inference at a time"},
		{"--sweep contexts=1..65", "64 are the most"},
		{"--sweep batch=1..2 --latency-limit -1s", "want a time of 0 or more"},
		{"--split", "give --sweep too"},
		{"--sweep batch=1..2 --split --latency-limit 1s", "give one of the two"},
		{"--sweep contexts=1..2 --split", "leave contexts out"},
		{"--sweep batch=2 --split", "give --sweep one, as in"},
		{"--sweep batch=1..2 --split " + file, "the engine file keeps its tactics"},
		{"--backend sim --sweep batch=1..2 --split", "measure on a device"},
	} {
		if _, err := call(t, benchCommand(tables{backends: testTable()}), strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: it says %v, want %q", c.args, err, c.want)
		}
	}
}

// testContexts sweeps how many contexts run at a time, by itself and beside an extent.
func testContexts(t *testing.T, engine string, args []string) {
	for sweep, points := range map[string]int{"contexts=1..3:1": 3, "batch=1..2,contexts=1..2": 4} {
		out, err := call(t, benchCommand(tables{backends: testTable()}), append(slices.Clone(args), "--format", "json", "--sweep", sweep, engine)...)
		var got struct {
			Points []struct {
				Values                          []int
				Contexts, Threads               int
				Batch, Memory_bytes, Held_bytes int
				Throughput_items_per_s          float64
				Latency                         struct {
					Count  int
					Max_ms float64
				}
			}
		}
		if err != nil || json.Unmarshal([]byte(out), &got) != nil || len(got.Points) != points {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, p := range got.Points {
			if n := p.Values[len(p.Values)-1]; p.Contexts != n || p.Threads < 1 || p.Latency.Count < 2*n || p.Throughput_items_per_s <= 0 || p.Held_bytes < p.Memory_bytes {
				t.Errorf("%s: %+v", sweep, p)
			}
			// All of them took at least as long as the longest, and as they were to.
			if most := float64(p.Latency.Count*p.Batch) * 1e3 / max(1, p.Latency.Max_ms); p.Throughput_items_per_s > 1.001*most {
				t.Errorf("%s: %g items/s, and no more than %g can have ended: %+v", sweep, p.Throughput_items_per_s, most, p)
			}
		}
	}
	out, err := call(t, benchCommand(tables{backends: testTable()}), append(slices.Clone(args), "--sweep", "contexts=1..2")...)
	if err != nil || !strings.Contains(out, "contexts run at the same time, each on its share of") || !strings.Contains(out, "best: contexts=") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestWriteSplit: what was measured is a table, and what follows from it has the flags that build it.
func TestWriteSplit(t *testing.T) {
	s := panetest.Split(config.Config{Precision: config.FP32})
	var out strings.Builder
	head := report.Head{Model: &report.ModelHead{}, Device: &report.Device{}, Config: &config.Config{}}
	writeSplit(&out, head, s)
	for _, want := range []string{
		"serves length from 1 to 512 with tactics that are timed at 128", "at 128, ms", "64       1.280  +11.1 %", "timed at 512: the same tactics", "timed at 1: 3 steps have other",
		"split at 33: length=1..32 and 33..512: -20.0 % at 1, noise ±2.4 %; measured anew", "a context of each takes 3.0 MiB more",
		"--minShapes ids:2x33,mask:2x33 --optShapes ids:2x128,mask:2x128 --maxShapes ids:2x512,mask:2x512 --profile 1 --minShapes ids:2x1,mask:2x1",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, out.String())
		}
	}
	s.Found = nil
	out.Reset()
	writeSplit(&out, head, s)
	if !strings.HasSuffix(out.String(), "one range is enough: no part of it is faster with tactics of its own, beyond noise\n") {
		t.Error(out.String())
	}
	csv, err := exchange.SplitCSV(s)
	if rows := strings.Split(string(csv), "\n"); err != nil || len(rows) != 12 || rows[0] != "length,median ms,tactics timed at,x,x low,x high,significant" {
		t.Errorf("%v\n%s", err, csv)
	}
}

// TestSplit measures the embedded model's batches.
func TestSplit(t *testing.T) {
	out, err := call(t, benchCommand(tables{backends: testTable()}), "--duration", "1ms", "--iterations", "1", "--warm-up", "0", "-q", "--format", "json", "--sweep", "batch=1..4", "--split")
	var got struct {
		Axis          string
		Min, Opt, Max int
		Values        []int
		Elsewhere     []struct{ At, Differ int }
	}
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || got.Axis != "batch" || got.Max != 4 || fmt.Sprint(got.Values) != "[1 2 4]" || len(got.Elsewhere) == 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSweepOfTies: an axis that is a sum of others follows them in a sweep, of a model and of an engine of a range, and is not swept by
// itself.
func TestSweepOfTies(t *testing.T) {
	d := graph.Define("cached")
	axis := symbolic.Symbol
	present := d.Concat(1, d.Input("past", numeric.F32, axis("batch"), axis("old")), d.Input("x", numeric.F32, axis("batch"), axis("new")))
	d.Output("y", d.Relu(d.Add(present, d.Input("mask", numeric.F32, axis("batch"), axis("total")))))
	file, engine := definedFile(t, d), filepath.Join(t.TempDir(), "cached.engine")
	command(t, 0, "build", file, "-q", "-o", engine, "--minShapes", "past:1x1,x:1x1,mask:1x2", "--optShapes", "past:1x8,x:1x2,mask:1x10", "--maxShapes", "past:2x16,x:2x4,mask:2x20")
	quick := []string{"--duration", "1ms", "--iterations", "1", "--warm-up", "0", "--format", "json"}
	for _, args := range [][]string{{"bench", engine}, {"bench", file, "--shapes", "past:1x8,x:1x2,mask:1x10"}} {
		for _, c := range []struct {
			axes string
			want []int // of mask
		}{{"old=1..16", []int{3, 4, 6, 10, 18}}, {"old=4..8,new=1..2", []int{5, 6, 9, 10}}, {"batch=1..2", []int{10, 10}}} {
			out, _ := command(t, 0, append(append(slices.Clone(args), quick...), "--sweep", c.axes)...)
			var got struct {
				Points []struct {
					Shapes []struct {
						Input string
						Shape []int
					}
				}
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var masks []int
			for _, p := range got.Points {
				for _, s := range p.Shapes {
					if s.Input == "mask" {
						masks = append(masks, s.Shape[1])
					}
				}
			}
			if !slices.Equal(masks, c.want) {
				t.Errorf("%v --sweep %s: masks of %v, want %v", args, c.axes, masks, c.want)
			}
		}
		if _, errs := command(t, exitFailure, append(args, "--sweep", "total=3..9")...); !strings.Contains(errs, "axis total follows others, as new + old") {
			t.Errorf("%v: %s", args, errs)
		}
	}
}
