package report

import (
	"strings"
	"testing"
)

// TestFasterPart: the part of a range that an engine is faster in is at one of its ends, without the best extent, and nowhere slower.
func TestFasterPart(t *testing.T) {
	values := []int{1, 2, 4, 8, 16, 32}
	fast, slow, noise := NewSpeed(1.2, 1.1, 1.3, true), NewSpeed(0.8, 0.7, 0.9, true), NewSpeed(1.01, 0.9, 1.1, true)
	of := map[byte]Speed{'+': fast, '-': slow, '.': noise}
	for _, c := range []struct {
		at, opt  int
		speeds   string
		from, to int
		ok       bool
	}{
		{32, 4, "---+++", 3, 5, true},
		{32, 4, "...-++", 4, 5, true},
		{32, 4, "....++", 4, 5, true},
		{32, 4, "..++-+", 5, 5, true},
		{32, 4, "++....", 0, 0, false},
		{32, 4, "...+..", 0, 0, false}, // at a third of it
		{32, 4, "...+.+", 3, 5, true},
		{32, 1, "++++++", 1, 5, true},
		{32, 32, "++++++", 0, 0, false},
		{1, 8, "++++++", 0, 2, true},
		{1, 8, "++-+++", 0, 1, true},
		{1, 8, "......", 0, 0, false},
		{1, 8, "+-", 0, 0, false}, // not measured to its end
	} {
		e := TunedAt{At: c.at}
		for i := range len(c.speeds) {
			e.Speeds = append(e.Speeds, of[c.speeds[i]])
		}
		from, to, ok := FasterPart(values, c.opt, e)
		if from != c.from || to != c.to || ok != c.ok {
			t.Errorf("%s at %d of %d: %d to %d, %v", c.speeds, c.at, c.opt, from, to, ok)
		}
	}
	if WorthSplit([]Speed{fast, slow, fast}) || WorthSplit([]Speed{noise, noise, fast}) || !WorthSplit([]Speed{noise, fast}) || WorthSplit(nil) {
		t.Error("what is worth a split")
	}
}

// TestVerdict says where a range is cut and what that gains.
func TestVerdict(t *testing.T) {
	s := &Split{Axis: "seq", Opt: 128, Elsewhere: []TunedAt{{At: 1}, {At: 512}}}
	if got := s.Verdict(); got != "one range is enough: the same tactics are the fastest at seq 128, 1, 512" {
		t.Error(got)
	}
	s.Elsewhere[0].Differ = 3
	if got := s.Verdict(); !strings.HasPrefix(got, "one range is enough: no part") {
		t.Error(got)
	}
	s.Found = &FoundSplit{Profiles: [2]SplitProfile{{65, 128, 512}, {1, 16, 64}}, Values: []int{1, 16, 64}, Speeds: []Speed{NewSpeed(1.1, 1.05, 1.15, true), NewSpeed(1.25, 1.225, 1.275, true), NewSpeed(1.01, 0.9, 1.1, true)}}
	if got := s.Verdict(); got != "split at 65: seq=1..64 and 65..512: -20.0 % at 16, noise ±2.0 %" {
		t.Error(got)
	}
}
