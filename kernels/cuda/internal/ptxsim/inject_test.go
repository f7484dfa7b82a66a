package ptxsim

import (
	"testing"
)

// TestOrderings leaves each barrier, wait and commit out of the pipelined GEMM: every time a fault is found or the product
// is wrong, by the checks alone, and by the values alone.
func TestOrderings(t *testing.T) {
	g := newGEMM(64, 128, 224)
	m := parse(t, gemmText(3))
	k := m.Kernels[0]
	found := Orderings(k)
	if len(found) != 5 { // two commits before the loop; in it a wait, a barrier and a commit
		t.Fatalf("%d orderings", len(found))
	}
	for _, i := range found {
		broken, err := Without(m, "gemm", i)
		if err != nil {
			t.Fatal(err)
		}
		for _, async := range []Async{Late, Early} {
			if _, _, err := g.run(t, broken, Options{Async: async}); faultOf(err) != Race && faultOf(err) != Pending && faultOf(err) != Uninitialised {
				t.Errorf("without %s, async %d: %v", k.Text(&k.Body[i]), async, err)
			}
		}
		wrong := false
		for seed := range uint64(8) {
			_, worst, err := g.run(t, broken, Options{Unchecked: true, Seed: seed})
			wrong = wrong || err != nil || !(worst < 1e-3)
		}
		if !wrong {
			t.Errorf("without %s the product is right nevertheless", k.Text(&k.Body[i]))
		}
	}
	if _, err := Without(m, "gemm", len(k.Body)); err == nil {
		t.Error("an instruction that is not there was left out")
	}
	if _, err := Without(m, "other", 0); err == nil {
		t.Error("an instruction of a kernel that is not there was left out")
	}
}
