package advice

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// unfused finds the fusions that were looked at and not done whose tensors in between are most of the bytes that are moved: what
// is written and read again.
func unfused(f *facts) (list []report.Finding) {
	fired := map[string]bool{}
	for _, st := range f.Passes.Steps {
		for _, x := range st.Fired {
			fired[x.Site] = true
		}
	}
	named := map[string]bool{}
	for _, st := range slices.Backward(f.Passes.Steps) { // a later pass knows better why
		for i := range st.Missed {
			m := &st.Missed[i]
			cost := 2 * f.between(m.Layers)
			if fired[m.Site] || named[m.Site] || m.Reason == switchedOff || f.bytes == 0 || float64(cost) < noticeable*float64(f.bytes) {
				continue
			}
			named[m.Site] = true
			found := report.Finding{Severity: report.Suggestion, Remedy: report.RemedyModel, Layer: f.engineLayer(m.Layers[0]), Bytes: cost,
				Text:     fmt.Sprintf("%s was not done for %s: %s", m.Rule, short(m.Layers[len(m.Layers)-1]), m.Reason),
				Evidence: []report.Evidence{bytes("between", cost), share("bytes_moved", float64(cost)/float64(f.bytes))}}
			if m.Detail != "" {
				found.Text += " (" + m.Detail + ")"
			}
			found.Text += fmt.Sprintf("; the tensor in between is written and read: %s, %s of all that is moved", size(cost), percent(float64(cost)/float64(f.bytes)))
			list = append(list, found)
		}
	}
	slices.SortStableFunc(list, func(a, b report.Finding) int { return int(b.Bytes - a.Bytes) })
	return list[:min(len(list), mostTensors)]
}

// switchedOff is the reason of sites that the configuration switches off.
const switchedOff = "disabled"

// between returns the bytes of the tensors that layers of a site pass to others of it, as the engine has them. It is 0 where the
// layers ended up in one engine layer after all.
func (f *facts) between(site []string) (n int64) {
	in := map[string]bool{}
	for _, name := range site {
		if l := f.engineLayer(name); l != "" {
			in[l] = true
		}
	}
	if len(in) < 2 {
		return 0
	}
	for name := range in {
		l := f.layers[name]
		for _, t := range l.Outputs {
			if slices.ContainsFunc(f.consumers[t.Name], func(to *report.Layer) bool { return to.Name != name && in[to.Name] }) {
				n += tensorBytes(t)
			}
		}
	}
	return n
}

// engineLayer returns the engine's layer that a layer of the source or of a pass became part of.
func (f *facts) engineLayer(name string) string {
	if f.layers[name] != nil {
		return name
	}
	return f.into[name]
}

// tensorBytes returns how large a tensor is; types that are not known count a byte an element.
func tensorBytes(t report.Tensor) int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= int64(d)
	}
	switch t.Type {
	case "f32", "i32", "u32":
		return 4 * n
	case "f16", "bf16", "i16", "u16":
		return 2 * n
	case "f64", "i64", "u64":
		return 8 * n
	}
	return n
}

// disabled finds fusions that are switched off, and what that costs.
func disabled(f *facts) []report.Finding {
	if len(f.Passes.Disabled) == 0 {
		return nil
	}
	sites, cost, layer := 0, int64(0), ""
	for _, st := range f.Passes.Steps {
		for i := range st.Missed {
			if m := &st.Missed[i]; m.Reason == switchedOff {
				sites++
				cost += 2 * f.between(m.Layers)
				if layer == "" {
					layer = f.engineLayer(m.Layers[0])
				}
			}
		}
	}
	if sites == 0 {
		return nil
	}
	return []report.Finding{{Severity: report.Warning, Remedy: report.RemedyRules, Layer: layer, Bytes: cost,
		Text:     fmt.Sprintf("%s switched off, which would apply at %s and save %s written and read", plural(len(f.Passes.Disabled), "rule or site"), plural(sites, "place"), size(cost)),
		Evidence: []report.Evidence{number("sites", float64(sites)), bytes("between", cost)}}}
}
