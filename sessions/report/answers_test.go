package report

import (
	"math"
	"strings"
	"testing"
)

// TestMcNemar has values of the binomial distribution: 2 (1 + 10) / 2^10 of one in ten, 1 where both are even.
func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		a, b int
		p    float64
	}{{0, 0, 1}, {1, 9, 22.0 / 1024}, {9, 1, 22.0 / 1024}, {5, 5, 1}, {0, 6, 2.0 / 64}, {0, 5, 2.0 / 32}, {3, 2, 1}} {
		if p := McNemar(c.a, c.b); math.Abs(p-c.p) > 1e-12 {
			t.Errorf("%d and %d: p %v, want %v", c.a, c.b, p, c.p)
		}
	}
	if p := McNemar(40000, 60000); !(p >= 0 && p < 1e-100) {
		t.Errorf("of many: %v", p)
	}
}

func TestAnswers(t *testing.T) {
	var a, b, other Answers
	for i := range 700 {
		fp32 := i%10 != 0
		a.Add(i%10 != 0 && i >= 14, fp32) // loses 12 that FP32 has
		b.Add(i%10 != 0 && i >= 3, fp32)
		other.Add(true, true)
	}
	s := a.BesideFP32()
	if s == nil || s.OnlyHere != 0 || s.OnlyBeside != 12 || !s.Apart() || s.Items != 700 || !strings.HasPrefix(s.String(), "are told apart on 700 items") {
		t.Errorf("%+v", s)
	}
	if s := b.BesideFP32(); s.OnlyBeside != 2 || s.Apart() || s.P != 0.5 || s.String() != "cannot be told apart on 700 items: right alone on 0 and 2, p 0.5" {
		t.Errorf("%+v %s", s, s)
	}
	if s := a.Beside(&b); s == nil || s.OnlyBeside != 10 || s.OnlyHere != 0 {
		t.Errorf("%+v", s)
	}
	if a.Beside(&other) != nil || a.Beside(nil) != nil || (*Answers)(nil).BesideFP32() != nil || (&Answers{Count: 9, Right: []byte{1}}).BesideFP32() != nil {
		t.Error("what is not on the same items is compared")
	}
}

func TestShareInterval(t *testing.T) {
	if i := ShareInterval(0.5, 100); math.Abs(i.Low-0.4038) > 1e-3 || math.Abs(i.High-0.5962) > 1e-3 {
		t.Errorf("%+v", i)
	}
	if i := ShareInterval(1, 10); math.Abs(i.High-1) > 1e-9 || math.Abs(i.Low-0.7225) > 1e-3 || ShareInterval(-1, 10) != nil || ShareInterval(1, 0) != nil {
		t.Errorf("%+v", i)
	}
}
