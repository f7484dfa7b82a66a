package stages

import (
	"cmp"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/describe"
	"github.com/trtui/trtui/sessions/report"
)

// Report lists every candidate of every step; cacheError is why the timing cache's file could not be read.
func (t *tuning) Report(cfg config.Config, cacheError error, p *run.Plan) *report.Tactics {
	choices := choicesOf(cfg.Pin, cfg.Forbid, p.Network)
	r := &report.Tactics{CachePath: t.saveTo, Pinned: choices.Pin, Forbidden: choices.Forbid}
	r.Forks, r.Dropped = describe.Forks(p)
	r.CacheHits, r.CacheMisses = t.cache.Stats()
	if err := cmp.Or(t.unsaved, cacheError); err != nil {
		r.CacheError = err.Error()
	}
	target, estimated := t.device.Backend.Info().Fingerprint, t.device.Estimated()
	r.Cache = describe.Cache(t.cache, target)
	for _, st := range p.AllSteps() {
		if st.Reformat {
			continue
		}
		lt := report.LayerTactics{Layer: st.Name, Op: graph.OpName(st.Layer), Chosen: st.Tactic}
		fastest := st.Time
		priced := func(c run.Candidate) bool {
			return c.Timed || estimated && c.Reason == choices.Reason(st.Name, c.Tactic)
		}
		for _, c := range st.Candidates {
			if priced(c) && c.Time < fastest {
				fastest = c.Time
			}
		}
		for _, c := range st.Candidates {
			info := report.Candidate{Tactic: c.Tactic, Family: c.Family, Format: c.In.String(), Time: c.Time, Timed: c.Timed, Chosen: c.Tactic == st.Tactic, Reason: c.Reason, Code: c.Code, Note: c.Note}
			info.Unfit, info.Left, info.Twin = c.Unfit || c.Failed, c.Left, c.Twin
			if c.Out != c.In {
				info.Format += " to " + c.Out.String()
			}
			if priced(c) && fastest > 0 {
				info.Ratio = float64(c.Time) / float64(fastest)
			}
			if info.Reason == "" && !info.Chosen {
				info.Reason = "slower"
				if c.Time < st.Time {
					info.Reason = "slower with the reformats that its format would need"
				}
			}
			lt.Candidates = append(lt.Candidates, info)
		}
		r.Layers = append(r.Layers, lt)
	}
	return r
}
