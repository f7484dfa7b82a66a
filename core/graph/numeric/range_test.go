package numeric

import "testing"

// TestRangeParts cuts a range by channels, and joins ranges of one scale.
func TestRangeParts(t *testing.T) {
	a, b := PerTensor(0.5, 3), PerTensor(0.25, 0)
	all := JoinRanges(2, []Range{a, b}, []int{2, 3})
	if len(all.Scale) != 5 || all.Axis != 2 || all.ScaleAt(1) != 0.5 || all.ScaleAt(2) != 0.25 || all.ZeroAt(1) != 3 || all.ZeroAt(4) != 0 {
		t.Errorf("%v", all)
	}
	if got := all.Part(0, 2); !got.Equal(a) || got.PerChannel() {
		t.Errorf("the first part is %v", got)
	}
	if got := all.Part(2, 5); !got.Equal(b) {
		t.Errorf("the second part is %v", got)
	}
	if got := all.Part(1, 3); len(got.Scale) != 2 || got.ZeroAt(0) != 3 || got.ZeroAt(1) != 0 || got.Axis != 2 {
		t.Errorf("a part of both is %v", got)
	}
	if got := JoinRanges(1, []Range{a, a}, []int{1, 4}); !got.Equal(a) {
		t.Errorf("twice the same is %v", got)
	}
	symmetric := Range{Scale: []float32{1, 2, 2}, Axis: 1}
	if got := all.Part(3, 3); !got.IsSet() || got.PerChannel() {
		t.Errorf("no channels: %v", got)
	}
	if got := symmetric.Part(1, 3); !got.Equal(PerTensor(2, 0)) {
		t.Errorf("a symmetric part is %v", got)
	}
	if got := a.Part(0, 7); !got.Equal(a) {
		t.Errorf("a part of one scale is %v", got)
	}
}
