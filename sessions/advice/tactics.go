package advice

import (
	"fmt"

	"github.com/trtui/trtui/sessions/report"
)

// slower is by how much a pinned tactic may be slower than the fastest.
const slower = 1.05

// pinned finds tactics that were pinned though others are faster.
func pinned(f *facts) (list []report.Finding) {
	for i := range f.Tactics.Layers {
		t := &f.Tactics.Layers[i]
		pin := f.Tactics.Pinned[t.Layer]
		if pin == "" {
			continue
		}
		var own, best *report.Candidate
		for k := range t.Candidates {
			c := &t.Candidates[k]
			if c.Tactic == pin && c.Time > 0 {
				own = c
			}
			if c.Timed && (best == nil || c.Time < best.Time) {
				best = c
			}
		}
		if own == nil || best == nil || float64(own.Time) <= slower*float64(best.Time) {
			continue
		}
		list = append(list, report.Finding{Severity: report.Warning, Remedy: report.RemedyTactics, Layer: t.Layer, Time: own.Time - best.Time,
			Text:     fmt.Sprintf("%s is pinned to %s, which takes %s; %s takes %s", short(t.Layer), pin, took(own.Time), best.Tactic, took(best.Time)),
			Evidence: []report.Evidence{duration("pinned", own.Time), duration("fastest", best.Time), times("slower", float64(own.Time)/float64(best.Time))}})
	}
	byTime(list)
	return list
}

// Tactics are close where the second fastest takes no more than this part longer, and the plan is a matter of chance where such
// layers take so much of the time.
const (
	closeRatio = 1.02
	closeShare = 0.5
)

// closeTactics finds a plan that would likely be another one if it were made again. That costs nothing, but makes two builds
// differ.
func closeTactics(f *facts) []report.Finding {
	count, sum, longest, most := 0, 0.0, "", 0.0
	for i := range f.Tactics.Layers {
		t := &f.Tactics.Layers[i]
		if taken, _ := f.share(t.Layer); isClose(t) {
			count++
			sum += taken
			if longest == "" || taken > most {
				longest, most = t.Layer, taken
			}
		}
	}
	if count == 0 || sum < closeShare || f.Device.Estimated {
		return nil
	}
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyTactics, Layer: longest,
		Text:     fmt.Sprintf("of %s, with %s of the time, the tactic and another are within 2 %%: built again the plan may be another one", plural(count, "layer"), percent(sum)),
		Evidence: []report.Evidence{number("layers", float64(count)), shareOf(sum)}}}
}

// isClose reports whether a layer has a timed tactic that is about as fast as the chosen one, which need not be the fastest.
func isClose(t *report.LayerTactics) bool {
	chosen := -1
	for i, c := range t.Candidates {
		if c.Chosen && c.Timed {
			chosen = i
		}
	}
	if chosen < 0 {
		return false
	}
	for i, c := range t.Candidates {
		if own := float64(t.Candidates[chosen].Time); i != chosen && c.Timed && float64(c.Time) <= closeRatio*own && float64(c.Time) >= own/closeRatio {
			return true
		}
	}
	return false
}

// disturbedShare is the part of the cache's entries for this device from which it is not to be trusted.
const disturbedShare = 0.2

// disturbed finds a timing cache that was filled while the machine did something else.
func disturbed(f *facts) []report.Finding {
	count, all := 0, 0
	for _, e := range f.Tactics.Cache {
		if e.Stale || e.Measured.IsZero() {
			continue
		}
		if all++; e.Disturbed {
			count++
		}
	}
	if count == 0 || float64(count) < disturbedShare*float64(all) {
		return nil
	}
	return []report.Finding{{Severity: report.Suggestion, Remedy: report.RemedyTactics,
		Text:     fmt.Sprintf("%d of %d timings of tactics were disturbed: plans that rest on them are a matter of chance", count, all),
		Evidence: []report.Evidence{number("disturbed", float64(count)), number("entries", float64(all))}}}
}
