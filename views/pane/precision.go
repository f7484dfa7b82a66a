package pane

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/words"
)

// PrecisionKey is the key of every pane with a layer under its cursor that sets that layer's precision.
func PrecisionKey(d Desk) ui.Key {
	return When(d, NeedsChoice, ui.K("P", "set type", "precision of the layer: fp32, fp16, int8, or as the builder chooses").Also("constraints", "constraint", "obey", "prefer", "raise", "mixed"))
}

// ChoosePrecision asks which precision a layer is to have: a layer of either graph, by its name and source layers.
func ChoosePrecision(d Desk, snap *report.Snapshot, name string, from []string) tea.Cmd {
	source := anchor(snap.Passes, from)
	if source == "" {
		return Say(ui.Warn, words.ShortName(name)+" is not one of the model's own layers: it follows its neighbours")
	}
	want := d.Want()
	choices := append(slices.Clone(Precisions), "")
	var items []string
	for _, p := range Precisions {
		items = append(items, string(p))
	}
	items = append(items, "auto: as the builder chooses for "+strings.ToUpper(string(want.Precision)))
	set, rule := want.LayerPrecision(name, from)
	if strings.Contains(rule, "*") {
		items[len(items)-1] += ", or a rule says: now " + rule
	}
	constraints, says := config.Obey, "obey: a precision that is not available becomes an error, not a warning"
	if want.Constraints == config.Obey {
		constraints, says = "", "prefer: a precision that is not available becomes a warning, not an error"
	}
	items = append(items, says)
	if n := len(want.LayerPrecisions); n > 0 {
		items = append(items, fmt.Sprintf("reset: clear the precision of all layers (%s set)", words.Plural(n, "rule")))
	}
	return ui.Open(&ui.Choice{Name: "Precision of " + words.ShortName(name), Items: items, Active: slices.Index(choices, set), Pick: func(i int) tea.Cmd {
		return d.Change(func(c *config.Config) {
			switch i - len(choices) {
			case 0:
				c.Constraints = constraints
			case 1:
				c.LayerPrecisions = nil
			default:
				c.SetLayerPrecision(source, choices[i])
			}
		})
	}})
}

// anchor returns the one of a layer's source layers that the layer is known by: that with the most arithmetic. It is
// empty where the layer has none, or none that is left after the passes.
func anchor(p *report.Passes, from []string) string {
	if p == nil {
		return ""
	}
	gone := map[string]bool{}
	for _, e := range p.Ledger {
		gone[e.Layer] = e.Fate == "folded" || e.Fate == "eliminated"
	}
	best := -1
	for i, l := range p.Source {
		if slices.Contains(from, l.Name) && !gone[l.Name] && (best < 0 || l.FLOPs > p.Source[best].FLOPs) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return p.Source[best].Name
}

// PrecisionMark stands by a layer whose precision was set.
const PrecisionMark = "*"

// Rules are the precisions that were set for layers, beside what the layers of a snapshot have.
type Rules struct {
	Want config.Config
	snap *report.Snapshot
}

// RulesOf returns the precisions that are set for layers now, beside those of a snapshot.
func RulesOf(d Desk, snap *report.Snapshot) Rules { return Rules{d.Want(), snap} }

// Mark returns the mark of a layer whose precision was set, and whether it was built with another one in spite of that.
func (r Rules) Mark(name string, from []string, precision string) (mark string, refused bool) {
	set, _ := r.Want.LayerPrecision(name, from)
	if set == "" {
		return "", false
	}
	built := r.snap.Stale&report.PartPasses == 0 && slices.Equal(r.snap.Config.LayerPrecisions, r.Want.LayerPrecisions)
	return PrecisionMark, built && PrecisionStyle(precision) != PrecisionStyle(string(set))
}

// Cell writes a layer's name, with a mark where its precision was set.
func (r Rules) Cell(name string, from []string, precision string, style ui.Style) ui.Cell {
	mark, refused := r.Mark(name, from, precision)
	if refused {
		style = ui.Warn
	}
	return ui.Cell{Text: mark + words.ShortName(name), Style: style}
}

// Text says which precision was set for a layer and by which rule, and that the layer has another one if it does; it
// is empty where none was set.
func (r Rules) Text(name string, from []string, precision string) string {
	set, rule := r.Want.LayerPrecision(name, from)
	if set == "" {
		return ""
	}
	text := fmt.Sprintf("%s by %s", set, rule)
	if _, refused := r.Mark(name, from, precision); refused && precision != "" {
		why := "no kernel for it is available here"
		if u := unmet(r.snap.Passes, name); u != nil {
			why = u.Reason
		}
		if r.Want.Constraints == config.Ignore {
			why = "precision constraints are none"
		}
		text += ", but it runs in " + precision + ": " + why
	}
	return text
}

// unmet returns what is known of a layer of the engine whose precision is not the one that was set, nil where it is.
func unmet(p *report.Passes, name string) *report.UnmetPrecision {
	if p != nil {
		if i := slices.IndexFunc(p.Unmet, func(u report.UnmetPrecision) bool { return u.Layer == name }); i >= 0 {
			return &p.Unmet[i]
		}
	}
	return nil
}

// Precisions are those that an engine can be built in, as keys step through them.
var Precisions = []config.Precision{config.FP32, config.FP16, config.INT8}
