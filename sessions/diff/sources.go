package diff

import (
	"regexp"
	"slices"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// sourcesOf returns the layers of the model of a side.
func sourcesOf(s *report.Snapshot) []report.Layer {
	switch {
	case s.Passes == nil:
	case s.Viewed() != "": // the model's layers are the engine's
		return s.Passes.Source
	case s.Model.Stripped: // they are, too, and tell what they compute
		var list []report.Layer
		for i := range s.Passes.Engine {
			for _, name := range s.Passes.Engine[i].From {
				list = append(list, report.Layer{Name: name})
			}
		}
		return list
	}
	return s.Model.Layers
}

// sources returns the source layers that one side's model has and the other's has not; those of groups that are aligned by what they are
// have other names alone.
func sources(a, b *report.Snapshot, groups []report.LayerChange) (added, removed []string) {
	if a.Model == nil || b.Model == nil || a.Model.ByName || b.Model.ByName {
		return nil, nil
	}
	less := func(x, y []report.Layer) (list []string) {
		has := map[string]bool{}
		for i := range groups {
			for _, name := range groups[i].From {
				has[name] = has[name] || groups[i].Alike
			}
		}
		for _, l := range y {
			has[l.Name] = true
		}
		for _, l := range x {
			if !has[l.Name] {
				list = append(list, l.Name)
			}
		}
		return list
	}
	return less(sourcesOf(b), sourcesOf(a)), less(sourcesOf(a), sourcesOf(b))
}

// changedSources returns the source layers that both models have by their name and that are not the same there. An engine's are not
// compared with a model's, which may be written otherwise, and files of other programs tell of a model's layers the names alone.
func changedSources(a, b *report.Snapshot) (list []report.SourceChange) {
	if a.Model == nil || b.Model == nil || a.Viewed() != "" || b.Viewed() != "" || a.Model.Kind != b.Model.Kind || a.Model.SHA256 == b.Model.SHA256 && a.Model.SHA256 != "" {
		return nil
	}
	of := map[string]*report.Layer{}
	for _, l := range sourcesOf(a) {
		of[l.Name] = &l
	}
	for _, y := range sourcesOf(b) {
		if x := of[y.Name]; x != nil {
			if c := (report.SourceChange{Name: y.Name, A: unlike(x, &y), B: unlike(&y, x)}); !c.A.Same(&c.B) {
				list = append(list, c)
			}
		}
	}
	return list
}

var attribute = regexp.MustCompile(`[^\s=]+=(\[[^\]]*\]|\S*)`)

// unlike returns of a layer what another does not have like it.
func unlike(l, other *report.Layer) (s report.SourceSide) {
	if l.Op != other.Op {
		s.Op = l.Op
	}
	if !slices.Equal(l.Kernel, other.Kernel) {
		s.Kernel = l.Kernel
	}
	theirs := attribute.FindAllString(other.Attrs, -1)
	var own []string
	for _, attr := range attribute.FindAllString(l.Attrs, -1) {
		if !slices.Contains(theirs, attr) {
			own = append(own, attr)
		}
	}
	s.Attrs = strings.Join(own, " ")
	if l.Weights != other.Weights && l.Precision == other.Precision {
		s.Weights = l.Weights
	}
	return s
}
