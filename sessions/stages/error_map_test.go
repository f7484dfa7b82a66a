package stages

import (
	"math"
	"testing"
)

// TestErrorMap puts an error of one into single elements and looks for it in the map.
func TestErrorMap(t *testing.T) {
	for _, c := range []struct {
		name          string
		dims          []int
		axis          int
		at            int // element with the error
		rows, columns int
		channel, pos  int
	}{
		{"scalar", nil, 0, 0, 1, 1, 0, 0},
		{"vector", []int{7}, 0, 6, 7, 1, 6, 0},
		{"classes", []int{2, 10}, 1, 13, 10, 1, 3, 0},
		{"many classes", []int{1, 1000}, 1, 999, 768, 1, 999, 0},
		{"few positions", []int{1, 500, 2, 2}, 1, 4*499 + 3, 192, 4, 499, 3},
		{"small image", []int{1, 3, 4, 5}, 1, 2*20 + 7, 3, 20, 2, 7},
		{"large image", []int{2, 100, 30, 30}, 1, 100*900 + 57*900 + 899, 24, 32, 57, 899},
		{"tokens", []int{2, 12, 48}, 2, 48*(12+7) + 37, 48, 12, 37, 7},
		{"many tokens", []int{1, 300, 40}, 2, 40*299 + 3, 24, 32, 3, 299},
		{"first axis", []int{20, 3}, 0, 3*19 + 1, 20, 3, 19, 1},
		{"odd", []int{1, 25, 33}, 1, 24*33 + 32, 24, 32, 24, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 1
			for _, d := range c.dims {
				n *= d
			}
			ref, got := make([]float32, n), make([]float32, n)
			for i := range ref {
				ref[i], got[i] = 10, 10
			}
			got[c.at]++
			var m errorMap
			m.add(ref, got, c.dims, c.axis)
			m.add(ref, got, append([]int{1, 1, 1}, c.dims...), c.axis) // another shape
			r := m.report()
			if r.Rows != c.rows || r.Columns != c.columns || len(r.RMS) != c.rows*c.columns || len(r.SQNR) != r.Channels {
				t.Fatalf("%d rows, %d columns, %d cells, %d channels", r.Rows, r.Columns, len(r.RMS), len(r.SQNR))
			}
			c0, c1, p0, p1 := r.Worst()
			if c.channel < c0 || c.channel > c1 || c.pos < p0 || c.pos > p1 || c1-c0 > r.Channels/r.Rows || p1-p0 > r.Positions/r.Columns {
				t.Errorf("the worst cell is of channels %d to %d, positions %d to %d", c0, c1, p0, p1)
			}
			for ch, db := range r.SQNR {
				items := float64(n) / float64(r.Channels*r.Positions)
				want := 200.0
				if ch == c.channel {
					want = 10 * math.Log10(100*float64(r.Positions)*items)
				}
				if math.Abs(db-want) > 0.01 {
					t.Errorf("channel %d has %g dB, want %g", ch, db, want)
				}
			}
		})
	}
	var m errorMap
	if m.add(nil, nil, []int{1, 0, 3}, 1); m.report() != nil {
		t.Error("an empty tensor has a map")
	}
	m.add([]float32{1, 2}, []float32{float32(math.NaN()), 2}, []int{1, 2}, 1)
	if r := m.report(); r.RMS[0] != 0 || r.SQNR[0] != 200 {
		t.Errorf("what is no number counts: %+v", r)
	}
}
