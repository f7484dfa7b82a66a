package sessions

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/trtui/trtui/core/run"
)

// Progress says how far a job is.
type Progress struct {
	Phase string // "collecting activations"
	Item  string // the layer, tactic or batch at hand
	Done  int
	Total int // 0: unknown
	// Share is how much of the phase is done, 0 to 1, where more is known of that than Done and Total tell; 0: they tell all.
	Share float64       `json:",omitempty"`
	Left  time.Duration `json:",omitempty"` // that the phase will take, about; 0: unknown
}

// Fraction returns how much of the phase is done, 0 to 1; negative where that is unknown.
func (p Progress) Fraction() float64 {
	switch {
	case p.Share > 0:
		return min(p.Share, 1)
	case p.Total > 0:
		return min(float64(p.Done)/float64(p.Total), 1)
	}
	return -1
}

// Counted is the phase and how far it is, as in "timing tactics 12/40".
func (p Progress) Counted() string {
	switch {
	case p.Total > 0:
		return fmt.Sprintf("%s %d/%d", p.Phase, p.Done, p.Total)
	case p.Done > 0:
		return fmt.Sprintf("%s %d", p.Phase, p.Done)
	}
	return p.Phase
}

// String is Counted with what is at hand: "timing tactics 12/40: conv1: conv_f32_avx512".
func (p Progress) String() string {
	if p.Item == "" {
		return p.Counted()
	}
	return p.Counted() + ": " + p.Item
}

// within returns the progress of a phase where a share of the next so many items is done.
func (p Progress) within(items int, share float64, at string) Progress {
	items = min(items, p.Total-p.Done)
	p.Item, p.Share = at, (float64(p.Done)+share*float64(items))/float64(max(p.Total, 1))
	return p
}

// A forecast says nothing before so much of a phase, in time and in work, has passed. It follows what it learns within
// forecastMemory, so that one slow step does not make it jump.
const (
	forecastAfter  = 2 * time.Second
	forecastShare  = 0.02
	forecastMemory = 5 * time.Second
)

// forecast estimates how long the phases of a job will take, by how long they took so far.
type forecast map[string]*phaseForecast

type phaseForecast struct {
	began, told time.Time
	from, share float64 // of the work: at the beginning, when it was told last
	end         time.Time
}

// left returns the time that p's phase will take from now on, 0 where that is unknown. A phase that falls back begins anew.
func (f forecast) left(p Progress, now time.Time) time.Duration {
	share := p.Fraction()
	if share < 0 {
		return 0
	}
	x := f[p.Phase]
	if x == nil || share < x.share {
		f[p.Phase] = &phaseForecast{began: now, told: now, from: share, share: share}
		return 0
	}
	since := now.Sub(x.told)
	x.share, x.told = share, now
	elapsed, work := now.Sub(x.began), share-x.from
	if elapsed < forecastAfter || work < forecastShare {
		return 0
	}
	end := x.began.Add(time.Duration(float64(elapsed) * (1 - x.from) / work))
	if x.end.IsZero() {
		x.end = end
	}
	x.end = x.end.Add(time.Duration(float64(end.Sub(x.end)) * (1 - math.Exp(-since.Seconds()/forecastMemory.Seconds()))))
	return roughly(max(x.end.Sub(now), time.Second))
}

// roughly rounds a time that is left to what one would say.
func roughly(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Second:
		return d.Round(time.Second)
	case d < time.Minute:
		return d.Round(5 * time.Second)
	case d < 10*time.Minute:
		return d.Round(10 * time.Second)
	}
	return d.Round(time.Minute)
}

// forecasting returns a progress function that adds what time is left; nil for nil stays silent.
func forecasting(progress func(Progress)) func(Progress) {
	if progress == nil {
		return func(Progress) {}
	}
	f := forecast{}
	return func(p Progress) {
		p.Left = f.left(p, time.Now())
		progress(p)
	}
}

// watch tells how far the inferences of a context are and ends them with ctx, where the device is slow enough for that to
// matter. now returns what an inference is a part of, whose next so many items it computes; without a total it is all of it.
func (s *stages) watch(ctx context.Context, c *run.ExecutionContext, now func() (p Progress, items int)) {
	c.Watch(ctx, func(w run.Progress) {
		p, items := now()
		member, others := Principal(w.Layer)
		where := member + others
		if w.Grid > 0 {
			where = fmt.Sprintf("block %d of %d, %s", w.Blocks, w.Grid, where)
		}
		if p.Total == 0 {
			p.Done, p.Total, p.Item, p.Share = w.Launch, w.Launches, where, w.Share
		} else {
			p = p.within(items, w.Share, fmt.Sprintf("launch %d of %d, %s", w.Launch, w.Launches, where))
		}
		s.progress(p)
	})
}
