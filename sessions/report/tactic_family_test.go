package report

import (
	"reflect"
	"testing"
)

// TestTried counts what was timed and what predictions left out, and is silent where they left out none.
func TestTried(t *testing.T) {
	l := LayerTactics{Candidates: []Candidate{
		{Tactic: "a", Timed: true, Ratio: 1}, {Tactic: "b", Ratio: 1}, {Tactic: "c", Unfit: true, Reason: "elements"},
	}}
	if got := l.Tried(); got != "" {
		t.Errorf("%q where nothing was left out", got)
	}
	l.Candidates = append(l.Candidates, Candidate{Tactic: "d", Left: true, Twin: "a"}, Candidate{Tactic: "e", Left: true}, Candidate{Tactic: "f", Left: true})
	if got, want := l.Tried(), "1 timed, 2 left out by prediction, 1 as twins"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	l.Candidates = l.Candidates[1:]
	if got, want := l.Tried(), "1 priced, 2 left out by prediction, 1 as twins"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFold: what cannot compute a layer is folded by family, with the reason of most; nothing else is.
func TestFold(t *testing.T) {
	unfit := func(family, tile, reason string) Candidate {
		return Candidate{Tactic: family + tile, Family: family, Unfit: true, Reason: reason}
	}
	timed := Candidate{Tactic: "conv_f16_mma_64x64x64_s4", Family: "conv_f16_mma", Timed: true}
	layer := LayerTactics{Candidates: []Candidate{
		unfit("conv_i8_mma", "_128x128x64_s3", "elements"), {Tactic: "nothing_linear", Unfit: true, Reason: "elements"}, timed,
		unfit("conv_f16_mma", "_64x64x64_s3_k2", "short"), unfit("conv_i8_mma", "_128x128x64_s3_k2", "short"),
		unfit("conv_f16_mma", "_128x64x64_s3_k2", "steps"), unfit("conv_i8_mma", "_64x64x64_s4", "short"),
	}}
	r := (&Tactics{Layers: []LayerTactics{layer}}).Fold()
	if want := []Candidate{timed, layer.Candidates[1]}; !reflect.DeepEqual(r.Layers[0].Candidates, want) {
		t.Errorf("candidates are %+v, want %+v", r.Layers[0].Candidates, want)
	}
	want := []TacticFamily{
		{Name: "conv_i8_mma", Tactics: 3, Reason: "short", Same: 2, Candidates: []int{0, 4, 6}},
		{Name: "conv_f16_mma", Tactics: 2, Reason: "short", Same: 1, Candidates: []int{3, 5}},
	}
	if !reflect.DeepEqual(r.Layers[0].Unfit, want) {
		t.Errorf("families are %+v, want %+v", r.Layers[0].Unfit, want)
	}
	if len(layer.Candidates) != 7 || layer.Unfit != nil {
		t.Error("the report that was folded has changed")
	}
	if got, want := want[0].String(), "3 kernels, 2 of them: short"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
