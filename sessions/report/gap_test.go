package report

import (
	"encoding/json"
	"testing"
	"time"
)

// disturbed has runs of ten layers, in each of which another three take ten times as long.
func disturbed() (runs []time.Duration, layers [][]time.Duration) {
	layers = make([][]time.Duration, 10)
	for i := range 50 {
		total := 2 * time.Microsecond
		for k := range layers {
			d := 10 * time.Microsecond
			if (i+k)%10 < 3 {
				d *= 10
			}
			layers[k], total = append(layers[k], d), total+d
		}
		runs = append(runs, total)
	}
	return runs, layers
}

// TestGapOf takes the gap run by run: the layers' medians, 100 µs of 372, would leave 272.
func TestGapOf(t *testing.T) {
	runs, layers := disturbed()
	if gap, n := GapOf(runs, layers); gap != 2*time.Microsecond || n != 50 {
		t.Errorf("a gap of %v by %d runs", gap, n)
	}
	if gap, n := GapOf(runs[:4], [][]time.Duration{{1, 2, 3}}); gap != runs[1]-2 || n != 3 {
		t.Errorf("a gap of %v by %d runs", gap, n)
	}
	for _, none := range [][][]time.Duration{nil, {{}}, {{1}, nil}} {
		if gap, n := GapOf(runs, none); gap != 0 || n != 0 {
			t.Errorf("without layers a gap of %v by %d runs", gap, n)
		}
	}
}

// TestOldGap opens timings whose gap is of medians, as older programs wrote them.
func TestOldGap(t *testing.T) {
	runs, layers := disturbed()
	old := Timings{EndToEnd: Latency{Median: 372 * time.Microsecond}, SumMedian: 100 * time.Microsecond, Gap: 272 * time.Microsecond, RecentE2E: runs}
	for _, l := range layers {
		old.Layers = append(old.Layers, LayerTiming{Latency: Latency{Median: 10 * time.Microsecond}, Recent: l})
	}
	read := func() (r Timings) {
		text, err := json.Marshal(&old)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := read(); r.Gap != 2*time.Microsecond || r.GapRuns != 50 || r.InLayers() != 370*time.Microsecond {
		t.Errorf("a gap of %v by %d runs", r.Gap, r.GapRuns)
	}
	old.GapRuns = 3
	if r := read(); r.Gap != 272*time.Microsecond || r.GapRuns != 3 {
		t.Errorf("a gap of %v by %d runs", r.Gap, r.GapRuns)
	}
	old.GapRuns, old.RecentE2E = 0, nil
	if r := read(); r.Gap != 272*time.Microsecond || r.GapRuns != 0 {
		t.Errorf("without samples a gap of %v by %d runs", r.Gap, r.GapRuns)
	}
}
