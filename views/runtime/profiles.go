package runtime

import (
	"maps"
	"slices"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// ofProfile returns a report with the ranges of a profile. Those of the first are as they are; the best extents of another are any, since
// no data are run at them.
func ofProfile(r *report.Runtime, c *config.Config, k int) *report.Runtime {
	if r == nil || k == 0 {
		return r
	}
	of, p := *r, config.OfProfile(*c, k)
	of.MadeUp, of.Axes = true, slices.Clone(r.Axes)
	for i := range of.Axes {
		a := &of.Axes[i]
		in := func(shapes map[string][]int, otherwise int) int {
			for _, p := range a.Places {
				if dims := shapes[p.Input]; p.Axis < len(dims) {
					return dims[p.Axis]
				}
			}
			return otherwise
		}
		a.Opt = in(p.Shapes, a.Opt)
		a.Min, a.Max = in(p.MinShapes, a.Opt), in(p.MaxShapes, a.Opt)
	}
	return &of
}

// setProfile has a configuration serve the axes of a report with its profile k, or with one more.
func setProfile(c *config.Config, k int, r *report.Runtime) {
	p := config.Profile{Shapes: r.Shapes(best)}
	if slices.ContainsFunc(r.Axes, func(a report.RuntimeAxis) bool { return a.Min != a.Max }) {
		p.MinShapes, p.MaxShapes = r.Shapes(least), r.Shapes(most)
	}
	switch {
	case k == 0:
		shapes := maps.Clone(p.Shapes)
		for input, dims := range c.Shapes {
			if _, open := shapes[input]; !open {
				shapes[input] = dims
			}
		}
		c.Shapes, c.MinShapes, c.MaxShapes, c.Batch = shapes, p.MinShapes, p.MaxShapes, r.Items()
	case k > len(c.Profiles):
		c.Profiles = append(slices.Clone(c.Profiles), p)
	default:
		c.Profiles = slices.Clone(c.Profiles)
		c.Profiles[k-1] = p
	}
}

func least(a *report.RuntimeAxis) int { return a.Min }

func best(a *report.RuntimeAxis) int { return a.Opt }

func most(a *report.RuntimeAxis) int { return a.Max }
