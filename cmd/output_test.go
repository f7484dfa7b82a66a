package cmd

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/ui"
)

func TestFitColumns(t *testing.T) {
	text, number, optional := tableColumn{width: 40}, tableColumn{width: 8, number: true}, tableColumn{width: 20, optional: true}
	names := tableColumn{width: 100, names: true}
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
		{80, []tableColumn{names, number, optional}, []int{48, 8, 20}},
		{70, []tableColumn{names, number, optional}, []int{60, 8, 0}},
		{40, []tableColumn{names, number, optional}, []int{30, 8, 0}},
		{200, []tableColumn{names, number, optional}, []int{100, 8, 20}},
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

// TestTableNames: names that a terminal has no room for still differ, and are whole where there is no terminal.
func TestTableNames(t *testing.T) {
	var rows [][]string
	for i := range 300 {
		name := fmt.Sprintf("/backbone/feature_extractor/stage_%d/residual_bottleneck_block_%02d/branch_main/depthwise_separable/conv/Conv + %d", i/75, i%75, i)
		rows = append(rows, []string{short(name), "1.0"})
	}
	var b bytes.Buffer
	writeTable(&b, []string{"@layer", ">µs"}, rows)
	if name := "/backbone/feature_extractor/stage_0/residual_bottleneck_block_00/branch_main/depthwise_separable/conv/Conv +1 "; !strings.Contains(b.String(), name) {
		t.Errorf("no %q in\n%.400s", name, b.String())
	}
	for _, width := range []int{comfortable, 30} {
		cut := make([][]string, len(rows))
		for i, r := range rows {
			cut[i] = slices.Clone(r)
		}
		shortenNames(cut, 0, width)
		seen := map[string]bool{}
		for i, r := range cut {
			if seen[r[0]] || ui.Width(r[0]) > width {
				t.Errorf("row %d: %q in %d cells", i, r[0], width)
			}
			seen[r[0]] = true
		}
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
