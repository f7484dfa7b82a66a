package sessions

import (
	"math"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

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
func (f forecast) left(p report.Progress, now time.Time) time.Duration {
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
func forecasting(progress func(report.Progress)) func(report.Progress) {
	if progress == nil {
		return func(report.Progress) {}
	}
	f := forecast{}
	return func(p report.Progress) {
		p.Left = f.left(p, time.Now())
		progress(p)
	}
}
