package graph

import (
	"cmp"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// places are the places that rules fitted by source layer. They are found once for the passes of a snapshot.
type places struct {
	passes *report.Passes
	by     map[string][]place
}

// place is one of them: what a pass did, or did not.
type place struct {
	missed   bool
	pass, at int
}

// of makes them those of some passes, which may be nil.
func (p *places) of(passes *report.Passes) {
	if p.passes == passes && p.by != nil {
		return
	}
	p.passes, p.by = passes, map[string][]place{}
	if passes == nil {
		return
	}
	for i, st := range passes.Steps {
		for k, f := range st.Fired {
			for _, name := range f.Layers {
				p.by[name] = append(p.by[name], place{false, i, k})
			}
		}
		for k, m := range st.Missed {
			for _, name := range m.Layers {
				p.by[name] = append(p.by[name], place{true, i, k})
			}
		}
	}
}

// layers returns the sites of source layers, those that were done first.
func (p *places) layers(names map[string]bool) []site {
	var found []place
	for name := range names {
		found = append(found, p.by[name]...)
	}
	slices.SortFunc(found, func(a, b place) int {
		if a.missed != b.missed {
			if b.missed {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.pass, b.pass), cmp.Compare(a.at, b.at))
	})
	found = slices.Compact(found)
	sites := make([]site, len(found))
	for i, at := range found {
		sites[i] = p.site(at)
	}
	return sites
}

// pass returns the sites of a pass, those that were done first.
func (p *places) pass(i int) []site {
	st := &p.passes.Steps[i]
	sites := make([]site, 0, len(st.Fired)+len(st.Missed))
	for k := range st.Fired {
		sites = append(sites, p.site(place{false, i, k}))
	}
	for k := range st.Missed {
		sites = append(sites, p.site(place{true, i, k}))
	}
	return sites
}

func (p *places) site(at place) site {
	st := &p.passes.Steps[at.pass]
	if at.missed {
		m := &st.Missed[at.at]
		return site{rule: m.Rule, text: m.Site, layers: m.Layers, pass: at.pass, reason: m.Reason, detail: m.Detail, cause: m.CauseOf()}
	}
	f := &st.Fired[at.at]
	return site{rule: f.Rule, text: f.Site, layers: f.Layers, pass: at.pass, into: f.Into, kernels: f.KernelsSaved, bytes: f.BytesSaved, note: f.Note}
}

// site is a place that a rule fits, done or not.
type site struct {
	rule, text string
	layers     []string
	pass       int
	into       string
	kernels    int
	bytes      int64
	note       string
	reason     string // why not; empty if it was done
	detail     string
	cause      string // the same at all sites that were left for one cause
}
