package stages

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/report"
)

// Workplace is what a session works with, beside the model.
type Workplace struct {
	Backend run.Backend
	Host    run.Backend // runs the FP32 reference and collects activations; nil: Backend
	Cache   *build.TimingCache
	// Warn is told what a person should know of a build that succeeds: layer precisions that are not met, a precision that
	// changes nothing. A Session has its log for that; nil tells nobody.
	Warn func(text string)
	// Log is told what each stage did. A Session has its log for that; nil tells nobody.
	Log     func(report.LogLine)
	Machine *Machine      // that other sessions measure on, too; nil: none does
	Rounds  int           // in which engines are measured side by side; 0: as many as compare.Rounds
	More    More          // in how many more they are; nil: in none
	Live    time.Duration // that a session measures an engine for at last; 0: 3 s
	SaveTo  string        // the timing cache's file; empty: nowhere
	// Peaks has what the device reaches at most, which is measured when layers or tokens are timed and it is not known; nil: nobody asks.
	Peaks *build.PeaksFile
	// CacheError says why a timing cache that was there could not be read; work goes on without.
	CacheError  error
	UsualShapes UsualShapes
	Data        dataset.Data // to measure accuracy on
	Task        Task         // by which accuracy is measured
	CalData     dataset.Data // to calibrate with
	CalItems    int          // of CalData at most; 0: all
	TapItems    int          // items on which layers are compared; 0: TapItems
	// Rounded are integers that weights were rounded to by moments before, in whichever shapes; nil: they are found on CalData.
	Rounded build.Rounded
	// Recalibrate finds all ranges on CalData, those of an engine file's own calibrator too; else that one keeps the ranges
	// in the file, unless they come from random input and CalData does not.
	Recalibrate bool
	// Language makes the model continue a text, as a configuration builds it, by weights that are rounded so: show is told of the text
	// as it grows, and at last of the times of layers. Nil where the model is no language model, or its tokenizer is not there.
	Language func(ctx context.Context, cfg config.Config, rounded build.Rounded, tell func(report.Progress), show func(*report.Generation)) error
	Program  string // that recordings name as their writer, with its version
}

// UsualShapes are shapes of inputs that nobody gave: usual ones of such models; none where they are given.
type UsualShapes struct {
	What string // they are of, as in "a text of the usual length"
	Text string
	Of   map[string][]int
}

func (u UsualShapes) String() string { return u.What + ", " + u.Text }

// have reports whether a configuration has them, at whichever batch: a person may have given others since.
func (u UsualShapes) have(cfg config.Config) bool {
	for input, dims := range u.Of {
		if now := cfg.Shapes[input]; len(now) != len(dims) || len(dims) > 0 && !slices.Equal(now[1:], dims[1:]) {
			return false
		}
	}
	return len(u.Of) > 0 && len(cfg.MaxShapes) == 0
}

// Writer names the writer of recordings.
func (w *Workplace) Writer() string { return cmp.Or(w.Program, "unknown") }

// Reference returns the backend for what is the same whatever the device.
func (w *Workplace) Reference() run.Backend {
	if w.Host != nil {
		return w.Host
	}
	return w.Backend
}

// Told returns who is told of work at the workplace.
func (w *Workplace) Told(progress func(report.Progress)) *Audience {
	return &Audience{progress, w.Warn, &Journal{Write: w.Log}}
}
