package quant

import (
	"math"
	"slices"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// TestChannelErrors: of two channels one is shifted by 3, the other alternates by 1: nine tenths of the error are a shift.
func TestChannelErrors(t *testing.T) {
	ref := []float32{1, 2, -4, 8} // channels of two elements each
	got := []float32{4, 5, -5, 9}
	c := ChannelErrors{Axis: 1}
	for range 2 {
		if err := c.Add(ref, got, []int{1, 2, 2}); err != nil {
			t.Fatal(err)
		}
	}
	if v := c.Shifted(); !c.Known() || math.Abs(v-0.9) > 1e-12 {
		t.Errorf("%v of the error is a shift, want 0.9", v)
	}
	if s := c.Spread(); s.AMax(0) != 2 || s.Low[1] != -4 || s.High[1] != 8 || !slices.Equal(c.Noise(), []float64{9, 1}) {
		t.Errorf("%+v, noise %v", s, c.Noise())
	}
	if err := c.Add(ref, got, []int{2, 2}); err != nil || !c.Known() {
		t.Error(err)
	}
	if err := c.Add(ref[:3], got[:3], []int{1, 3, 1}); err != nil || c.Known() {
		t.Errorf("%v; three channels are taken for two", err)
	}
	if c.Add(ref, got[:3], []int{1, 2, 2}) == nil {
		t.Error("tensors of different sizes are compared")
	}
	if empty := (&ChannelErrors{}); empty.Shifted() != 0 || empty.Known() {
		t.Error("nothing is known of nothing")
	}
}

// TestStorageErrors: what is beyond a range is clipped, what lies half a step beyond it is rounded.
func TestStorageErrors(t *testing.T) {
	r := numeric.PerTensor(1, 0)
	x := []float32{0.25, 127.4, 130, -150, float32(math.NaN())}
	v := numeric.NewValue(numeric.I8, len(x))
	numeric.FromReal(v, x, r)
	var e StorageErrors
	e.Add(x, numeric.ToReal(v, r).Floats(), r, numeric.I8)
	if math.Abs(e.Rounded-(0.0625+0.16)) > 1e-4 || e.Clipped != 9+22*22 {
		t.Errorf("%+v", e)
	}
}

func TestFindOutliers(t *testing.T) {
	even := slices.Repeat([]float64{1, 0.9, 1.3, 0.2}, 8)
	wide := slices.Clone(even)
	wide[3] = 26
	two := slices.Clone(wide)
	two[9] = 20
	for _, c := range []struct {
		name  string
		reach []float64
		want  []int
		bits  float64
	}{
		{"none", nil, nil, 0},
		{"even", even, nil, 0},
		{"one", wide, []int{3}, math.Log2(20)},
		{"two", two, []int{3, 9}, math.Log2(20)},
		{"too many to be outliers", []float64{100, 100, 1, 1, 1, 1}, nil, 0},
		{"the others are dead", []float64{0, 5, 0, 0}, nil, 0},
		{"infinite", []float64{math.Inf(1), 1, 1}, nil, 0},
	} {
		if o := FindOutliers(c.reach); !slices.Equal(o.Channels, c.want) || math.Abs(o.Bits()-c.bits) > 1e-9 {
			t.Errorf("%s: %+v, %v bits", c.name, o, o.Bits())
		}
	}
}

// TestScaleWithout has channels whose outlier a range covers, or clips: the others need their own reach over the levels.
func TestScaleWithout(t *testing.T) {
	spread := ChannelSpread{Low: []float64{-0.17, 0, -90, -0.1}, High: []float64{3.14, 2, 89, 1}}
	for _, c := range []struct {
		name  string
		form  Scheme
		reach float64 // of the range there is
		want  float64
	}{
		{"asymmetric, covered", Scheme{Asymmetric: true}, 90, 3.31 / 255},
		{"asymmetric, clipped", Scheme{Asymmetric: true}, 40, 3.31 / 255},
		{"symmetric", Scheme{}, 40, 3.14 / 127},
		{"unsigned", Scheme{Type: numeric.U8}, 40, 3.14 / 127},
		{"what there is is less", Scheme{}, 2, 2. / 127},
	} {
		r := c.form.Range(-c.reach, 0.9*c.reach)
		if got := spread.ScaleWithout([]int{2}, r, c.form.DataType()); math.Abs(got/c.want-1) > 1e-6 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
