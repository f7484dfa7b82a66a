package build

import (
	"slices"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels"
)

// Timing says which measurement of a tactic begins, and how many there are.
type Timing struct {
	Layer, Tactic string
	Done, Total   int
	// Again says that every tactic has been timed on as many occasions as it is at least, and those are timed again whose
	// times disagree; Done and Total count these alone.
	Again bool
}

// candidate is a tactic that the cache does not know for a layer's form.
type candidate struct {
	binding kernels.Binding
	tactic  kernels.Tactic
}

// unknown prices candidates by guesses, and lists what is to be measured of them, each form of layer once.
func (t *tuner) unknown(candidates *run.Candidates) ([]candidate, error) {
	t.admit(candidates)
	var list []candidate
	seen := map[CacheEntry]bool{}
	err := candidates.Price(t.ctx, func(b kernels.Binding, tac kernels.Tactic, rank int) (run.Price, error) {
		t.meet(b.Layer, tac.Name)
		entry := t.entry(b, tac)
		known := t.cache.Has(entry) && !slices.Contains(t.remeasure, b.Layer.Name)
		if t.choices.Reason(b.Layer.Name, tac.Name) == "" && !seen[entry] && !known {
			seen[entry] = true
			list = append(list, candidate{b, tac})
		}
		return t.guess(b, tac, rank)
	})
	if err == nil {
		err = candidates.Unsupported()
	}
	return list, err
}

// admit lets what is timed already be priced whatever predictions say, and what came to be worth a time.
func (t *tuner) admit(candidates *run.Candidates) {
	for _, a := range candidates.LeftOut() {
		if entry := t.entry(a.Binding(), a.Tactic); t.admitted[entry] || t.cache.Has(entry) {
			a.Admit()
		}
	}
}

// want has twins timed in the next pass. After a single occasion it is not known yet whose twins are worth it.
func (t *tuner) want(twins []*run.Launch) {
	if t.pass == 0 && len(t.trials) > 0 {
		t.early = len(twins) > 0
		return
	}
	for _, a := range twins {
		b := a.Binding()
		if entry := t.entry(b, a.Tactic); t.choices.Reason(b.Layer.Name, a.Tactic.Name) == "" && !t.admitted[entry] {
			t.admitted[entry] = true
			t.wanted = append(t.wanted, candidate{b, a.Tactic})
			t.meet(b.Layer, a.Tactic.Name)
		}
	}
}

// entry returns the cache's name for a tactic of a layer's form.
func (t *tuner) entry(b kernels.Binding, tac kernels.Tactic) CacheEntry {
	return CacheEntry{Target: t.target, Tactic: tac.Name, Layer: signature(b)}
}

// expect counts the measurements that there will be at least: where a layer has a choice each tactic is timed on several
// occasions, of which expectAgain counts those that come late.
func (t *tuner) expect(list []candidate) {
	for _, c := range list {
		if t.contested(c.binding.Layer.Name) {
			t.timing.Total += max(0, minOccasions-t.pass)
		} else {
			t.timing.Total++
		}
	}
}

// expectAgain counts what a pass measures for which there was no reckoning at first.
func (t *tuner) expectAgain() {
	if t.pass < minOccasions {
		return
	}
	if !t.timing.Again {
		t.timing = Timing{Again: true}
	}
	for _, tr := range t.trials {
		if !tr.full() && slices.ContainsFunc(tr.layers, func(l string) bool { return t.open[l] && !t.beaten(tr, l) }) {
			t.timing.Total++
		}
	}
}

// begins tells that a tactic is about to be measured.
func (t *tuner) begins(layer, tactic string) {
	t.timing.Layer, t.timing.Tactic = layer, tactic
	t.timing.Total = max(t.timing.Total, t.timing.Done+1)
	if t.progress != nil {
		t.progress(t.timing)
	}
	t.timing.Done++
}
