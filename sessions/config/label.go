package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/pass"
)

// Label names a configuration in a few words: "int8/mse, 2 layers in fp32, 1 pin, fuse-activation off, obey". What has no
// say in it is left out; quantized is as for [Config.Effective].
func (c Config) Label(quantized bool) string { return Labels([]Config{c}, quantized)[0] }

// Labels names configurations side by side: where a count would not tell two of them apart, what differs is named.
func Labels(list []Config, quantized bool) []string {
	clauses := make([][]clause, len(list))
	labels := make([]string, len(list))
	alike := map[string][]int{}
	for i, c := range list {
		clauses[i] = c.Effective(quantized).clauses()
		labels[i] = join(clauses[i], nil)
		alike[labels[i]] = append(alike[labels[i]], i)
	}
	for i, label := range slices.Clone(labels) {
		if group := alike[label]; len(group) > 1 {
			labels[i] = join(clauses[i], func(k int) bool {
				return slices.ContainsFunc(group, func(o int) bool { return !slices.Equal(clauses[o][k].items, clauses[i][k].items) })
			})
		}
	}
	return labels
}

// Beside names configurations side by side as [Labels] does, but for the shapes where all have the same, which are said once.
func Beside(list []Config, quantized bool) (labels []string, shapes string) {
	if len(list) < 2 || slices.ContainsFunc(list, func(c Config) bool { return !slices.EqualFunc(shapesClauses(c), shapesClauses(list[0]), clause.same) }) {
		return Labels(list, quantized), ""
	}
	list = slices.Clone(list)
	shapes = join(shapesClauses(list[0]), nil)
	for i := range list {
		list[i].Shapes, list[i].MinShapes, list[i].MaxShapes, list[i].Profiles = nil, nil, nil, nil
	}
	return Labels(list, quantized), shapes
}

// clause is one part of a label, by a count and by name.
type clause struct {
	count string
	items []string
}

func (c clause) same(o clause) bool { return c.count == o.count && slices.Equal(c.items, o.items) }

// join writes clauses, those for which named holds with their items.
func join(list []clause, named func(k int) bool) string {
	var words []string
	for k, c := range list {
		switch {
		case len(c.items) == 0:
		case named != nil && named(k):
			words = append(words, c.items...)
		default:
			words = append(words, c.count)
		}
	}
	return strings.Join(words, ", ")
}

// clauses says what an effective configuration asks for: the same number of clauses for each, some of them without items.
func (c Config) clauses() []clause {
	what := string(c.Precision)
	if what == "?" { // of a file of another program
		what = "precision not known"
	}
	if c.Calibrator != "" {
		what += "/" + c.Calibrator
	}
	list := []clause{{what, []string{what}}}
	list = append(list, c.Quantization.clauses()...)
	one := func(text string, said bool) {
		if said {
			list = append(list, clause{text, []string{text}})
		} else {
			list = append(list, clause{})
		}
	}
	one("weights in "+c.Weights, c.Weights != "")
	one(fmt.Sprintf("batch %d", c.Batch), c.Batch > 1)
	list = append(list, shapesClauses(c)...)
	one("after "+CountOf(c.Until, "pass", "passes"), c.Until > 0)
	list = append(list, c.precisionClauses()...)
	list = append(list, c.tacticClauses()...)
	rules := clause{count: CountOf(len(c.RuleFiles), "rule file", "rule files"), items: c.RuleFiles}
	if len(c.RuleFiles) == 1 {
		rules.count = "rules of " + filepath.Base(c.RuleFiles[0])
	}
	list = append(append(list, rules), c.offClauses()...)
	one(string(Obey), c.Constraints == Obey)
	return list
}

// shapesClauses says which shapes are asked for: one clause for each set of the first profile, and one for the others.
func shapesClauses(c Config) []clause {
	var list []clause
	first := Profile{c.Shapes, c.MinShapes, c.MaxShapes}
	for _, items := range first.items() {
		list = append(list, clause{strings.Join(items, ", "), items})
	}
	var others clause
	for i, p := range c.Profiles {
		others.items = append(others.items, fmt.Sprintf("profile %d: %s", i+1, strings.Join(slices.Concat(p.items()...), ", ")))
	}
	others.count = CountOf(len(others.items)+1, "profile", "profiles")
	return append(list, others)
}

// clauses says how is quantised where that is not the default: one clause for each choice of an effective Quantization.
func (q Quantization) clauses() []clause {
	list := make([]clause, 8)
	say := func(k int, text, format string) {
		if text != "" {
			text = fmt.Sprintf(format, text)
			list[k] = clause{text, []string{text}}
		}
	}
	say(0, q.Activations, "%s")
	say(1, q.WeightScales, "weights per %s")
	say(2, q.WeightRanges, "weights by %s")
	say(3, string(q.BiasCorrection), "bias correction %s")
	if q.Equalization == "off" {
		say(6, "not equalised", "%s")
	} else {
		say(6, q.Equalization, "equalised by %s")
	}
	if q.Rounding == "nearest" {
		say(7, q.Rounding, "weights rounded to the %s")
	} else {
		say(7, q.Rounding, "weights rounded by %s")
	}
	for _, k := range q.Keep {
		list[4].items = append(list[4].items, k+" kept")
	}
	list[4].count = strings.Join(list[4].items, ", ")
	for _, name := range slices.Sorted(maps.Keys(q.Ranges)) {
		list[5].items = append(list[5].items, fmt.Sprintf("%s from %g to %g", name, q.Ranges[name][0], q.Ranges[name][1]))
	}
	list[5].count = CountOf(len(q.Ranges), "range", "ranges") + " given"
	return list
}

// precisionClauses says which layers have a precision of their own: one clause for each precision, and one for rules
// with wildcards, which stand for any number of layers.
func (c Config) precisionClauses() []clause {
	rules, _ := c.Rules() // those that cannot be read set nothing
	list := make([]clause, 5)
	for _, r := range rules {
		name := r.PrecisionName()
		k := 1 + slices.Index([]Precision{FP32, FP16, INT8, INT8ByToken}, Precision(name))
		text := r.Pattern + " in " + name
		if strings.Contains(r.Pattern, "*") {
			k = 0
		}
		list[k].items = append(list[k].items, text)
		list[k].count = CountOf(len(list[k].items), "layer", "layers") + " in " + name
	}
	list[0].count = strings.Join(list[0].items, ", ")
	return list
}

// tacticClauses says how many tactics are pinned and forbidden.
func (c Config) tacticClauses() []clause {
	var pins, forbidden clause
	for _, layer := range slices.Sorted(maps.Keys(c.Pin)) {
		pins.items = append(pins.items, c.Pin[layer]+" pinned to "+layer)
	}
	for _, layer := range slices.Sorted(maps.Keys(c.Forbid)) {
		for _, tactic := range c.Forbid[layer] {
			forbidden.items = append(forbidden.items, tactic+" forbidden for "+layer)
		}
	}
	pins.count = CountOf(len(pins.items), "pin", "pins")
	forbidden.count = CountOf(len(forbidden.items), "tactic", "tactics") + " forbidden"
	return []clause{pins, forbidden}
}

// offClauses says which rules are switched off, everywhere or at a site.
func (c Config) offClauses() []clause {
	var rules, sites clause
	for _, d := range c.Disable {
		if site, err := pass.ParseSite(d); err == nil {
			sites.items = append(sites.items, fmt.Sprintf("%s off at %s", site.Rule, strings.Join(site.Layers, "+")))
		} else {
			rules.items = append(rules.items, d+" off")
		}
	}
	rules.count = CountOf(len(rules.items), "rule", "rules") + " off"
	if len(rules.items) == 1 {
		rules.count = rules.items[0]
	}
	sites.count = CountOf(len(sites.items), "site", "sites") + " off"
	return []clause{rules, sites}
}

// OffLabel says in a few words which rules a configuration switches off, "fuse-activation off, 2 sites off"; "" where none.
func OffLabel(c Config) string { return join(c.offClauses(), nil) }

// CountOf writes a number with its noun.
func CountOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
