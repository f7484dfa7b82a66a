package report

import (
	"cmp"
	"fmt"
	"slices"
)

// PriceNote says what the times of tactics are where nothing is measured: there are two estimates, and this is the one before
// there is code.
const PriceNote = "untimed: the cost model chose by its estimates (~), made before there is code; layer times come from what the simulator counted"

// Tried says how many candidates have a time or a price, and how many predictions left out; it is empty where they left out none.
func (l *LayerTactics) Tried() string {
	timed, priced, left, twins := 0, 0, 0, 0
	for _, c := range l.Candidates {
		switch {
		case c.Timed:
			timed++
		case c.Left && c.Twin != "":
			twins++
		case c.Left:
			left++
		case c.Ratio > 0:
			priced++
		}
	}
	if left+twins == 0 {
		return ""
	}
	tried := fmt.Sprintf("%d timed", timed)
	if timed == 0 {
		tried = fmt.Sprintf("%d priced", priced)
	}
	return fmt.Sprintf("%s, %d left out by prediction, %d as twins", tried, left, twins)
}

// Folded returns the candidates that are worth a line of their own, those that can compute the layer before those that
// cannot, and the families of the latter: two at least, each in the order of the first.
func (l *LayerTactics) Folded() (single []int, families []TacticFamily) {
	at := map[string]int{}
	for i, c := range l.Candidates {
		if !c.Unfit {
			single = append(single, i)
			continue
		}
		name := cmp.Or(c.Family, c.Tactic)
		if _, ok := at[name]; !ok {
			at[name] = len(families)
			families = append(families, TacticFamily{Name: name})
		}
		f := &families[at[name]]
		f.Candidates = append(f.Candidates, i)
	}
	families = slices.DeleteFunc(families, func(f TacticFamily) bool {
		if len(f.Candidates) == 1 {
			single = append(single, f.Candidates[0])
		}
		return len(f.Candidates) == 1
	})
	for i := range families {
		families[i].count(l)
	}
	return single, families
}

// count finds the reason that most of the family have.
func (f *TacticFamily) count(l *LayerTactics) {
	f.Tactics = len(f.Candidates)
	reasons := map[string]int{}
	for _, i := range f.Candidates {
		reasons[l.Candidates[i].Reason]++
	}
	for _, i := range f.Candidates {
		if r := l.Candidates[i].Reason; reasons[r] > f.Same {
			f.Reason, f.Same = r, reasons[r]
		}
	}
}

// Fold returns the report with the tactics that cannot compute their layers as families.
func (r *Tactics) Fold() *Tactics {
	folded := *r
	folded.Layers = slices.Clone(r.Layers)
	for i := range folded.Layers {
		l := &folded.Layers[i]
		single, families := l.Folded()
		all := l.Candidates
		l.Candidates, l.Unfit = nil, families
		for _, at := range single {
			l.Candidates = append(l.Candidates, all[at])
		}
	}
	return &folded
}
