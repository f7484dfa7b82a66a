package program

import (
	"bytes"
	"testing"
)

func TestFitColumns(t *testing.T) {
	text, number, optional := tableColumn{width: 40}, tableColumn{width: 8, number: true}, tableColumn{width: 20, optional: true}
	for _, c := range []struct {
		cells int
		in    []tableColumn
		want  []int
	}{
		{0, []tableColumn{text, number, optional}, []int{40, 8, 20}},
		{72, []tableColumn{text, number, optional}, []int{40, 8, 20}},
		{71, []tableColumn{text, number, optional}, []int{40, 8, 0}},
		{40, []tableColumn{text, number, optional}, []int{30, 8, 0}},
		{50, []tableColumn{text, {width: 20}, number}, []int{19, 19, 8}},
		{10, []tableColumn{text, {width: 5}, number}, []int{12, 5, 8}},
	} {
		fitColumns(c.in, c.cells)
		for i, w := range c.want {
			if c.in[i].width != w {
				t.Errorf("%d cells: column %d has %d, want %d", c.cells, i, c.in[i].width, w)
			}
		}
	}
}

func TestWriteTable(t *testing.T) {
	var b bytes.Buffer
	writeTable(&b, []string{"layer", ">µs", "~"}, [][]string{{"a", "10.5", "██"}, {"層", "3.0", ""}})
	want := "layer    µs\na      10.5  ██\n層      3.0\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestDecibels(t *testing.T) {
	for _, c := range []struct {
		db          float64
		alone, unit string
	}{{200, "exact", "exact"}, {199.94, "199.9", "199.9 dB"}, {-3, "-3.0", "-3.0 dB"}} {
		if decibels(c.db) != c.alone || ratio(c.db) != c.unit {
			t.Errorf("%g: %q and %q, want %q and %q", c.db, decibels(c.db), ratio(c.db), c.alone, c.unit)
		}
	}
}
