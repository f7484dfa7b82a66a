//go:build unix

package views

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
	"github.com/trtui/trtui/views/recordings"
)

// cpuTime returns how long the process has been on processors.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// afterwards is a snapshot again, a little slower.
func afterwards(s *report.Snapshot) *report.Snapshot {
	later, timings := *s, *s.Timings
	timings.Layers = slices.Clone(timings.Layers)
	for i := range timings.Layers {
		l := &timings.Layers[i]
		l.Median += l.Median / time.Duration(20+i%30)
	}
	later.Seq, later.Timings, later.Config.Precision = s.Seq+1, &timings, config.FP16
	return &later
}

// many is a folder of as many recordings.
func many(n int) folder {
	list := make(folder, n)
	for i := range list {
		list[i] = &report.Recording{
			Path: fmt.Sprintf("/data/recordings/mixture_of_experts-%04d.trtui", i), Model: "mixture_of_experts.onnx", Bytes: int64(i) << 10, Complete: i%9 > 0,
			Started: time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC),
			Configs: []report.RecordedConfig{{Config: config.Config{Precision: config.FP32}}, {Config: config.Config{Precision: config.INT8, Calibrator: "mse"}}},
		}
	}
	return list
}

// BenchmarkPaint measures a key press until the picture is ready, on every screen, with a network of 5,000 layers with long names, its
// cursor far down, and as many recordings. The goal is 16 ms. cpu-ms is what a key takes of all processors, whatever else the machine
// does, collection of garbage included, and worst-cpu-ms the most that one took; p99.9-ms is how long one in a thousand lasts, which
// means something on a machine that has nothing else to do.
func BenchmarkPaint(b *testing.B) {
	snap := panetest.Large(b, 5000)
	other := afterwards(snap)
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		w := newBench(b, ui.Options{Theme: "dark"}, snap)
		w.size(size[0], size[1])
		w.press("m")
		w.publish(other)
		w.send(recordings.List(many(5000))())
		for _, s := range w.app.Screens() {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], s.Name), func(b *testing.B) {
				w.send(w.app.PlaceOf(s, 0))
				if s.Name == "Compare" {
					w.press("d")
				}
				for range 20 {
					w.app.Update(ui.Press("pgdown"))
				}
				w.app.View()
				worst, begin, n := time.Duration(0), cpuTime(b), 0
				var lasted []time.Duration
				for ; b.Loop(); n++ {
					at, start := cpuTime(b), time.Now()
					w.app.Update(ui.Press([]string{"down", "up", "pgdown", "pgup", "tab"}[n%5]))
					if w.app.View().Content == "" {
						b.Fatal("nothing to see")
					}
					lasted = append(lasted, time.Since(start))
					worst = max(worst, cpuTime(b)-at)
				}
				slices.Sort(lasted)
				b.ReportMetric(float64((cpuTime(b)-begin).Microseconds())/1e3/float64(n), "cpu-ms")
				b.ReportMetric(float64(worst.Microseconds())/1e3, "worst-cpu-ms")
				b.ReportMetric(float64(lasted[len(lasted)*999/1000].Microseconds())/1e3, "p99.9-ms")
			})
		}
	}
}

// BenchmarkSnapshot measures other times of 5,000 layers until the picture is ready, which come ten times a second while they are measured.
func BenchmarkSnapshot(b *testing.B) {
	snap := panetest.Large(b, 5000)
	both := [2]*report.Snapshot{afterwards(snap), afterwards(afterwards(snap))}
	w := newBench(b, ui.Options{Theme: "dark"}, snap)
	w.size(200, 60)
	for _, s := range w.app.Screens() {
		b.Run(s.Name, func(b *testing.B) {
			w.send(w.app.PlaceOf(s, 0))
			b.ReportAllocs()
			begin, n := cpuTime(b), 0
			for ; b.Loop(); n++ {
				w.app.Update(both[n%2])
				if w.app.View().Content == "" {
					b.Fatal("nothing to see")
				}
			}
			b.ReportMetric(float64((cpuTime(b)-begin).Microseconds())/1e3/float64(n), "cpu-ms")
		})
	}
}
