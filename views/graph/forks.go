package graph

import (
	"strings"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

// forkSites are the places where the plan, behind all passes, has steps run side by side, or looked at that.
func forkSites(s *report.Snapshot) (list []site) {
	if s.Tactics == nil {
		return nil
	}
	add := func(f *report.Fork) {
		text := forkText(f)
		rule, _, _ := strings.Cut(f.Site, ":")
		made := site{rule: rule, text: f.Site, layers: f.Layers, pass: len(s.Passes.Steps), reason: f.Reason}
		switch f.Reason {
		case "":
			made.note = text
		case disabled:
			made.detail, made.cause = f.Detail, f.Detail
		default:
			made.detail, made.cause = f.Detail+": "+text, f.Detail
		}
		list = append(list, made)
	}
	for i := range s.Tactics.Forks {
		add(&s.Tactics.Forks[i])
	}
	for i := range s.Tactics.Dropped {
		add(&s.Tactics.Dropped[i])
	}
	return list
}

// forkText says of a fork how many steps and lanes it has, and what it was measured to save, or predicted to.
func forkText(f *report.Fork) string {
	parts := []string{words.Plural(f.Steps(), "step") + " in " + words.Plural(len(f.Lanes), "lane")}
	if f.Measured() {
		parts = append(parts, "in turn "+ui.Duration(f.InTurn), "side by side "+ui.Duration(f.Beside), lessText(f.Gain))
	}
	return strings.Join(append(parts, lessText(f.Predicted)+" predicted"), ", ")
}

// lessText writes a share of time that is saved.
func lessText(gain float64) string {
	if gain < 0 {
		return words.Percent(-gain) + " more"
	}
	return words.Percent(gain) + " less"
}
