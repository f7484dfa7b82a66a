package runtime

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestRanges changes the ends of an axis, in every input that has it, and goes back to one set of shapes.
func TestRanges(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	d := &panetest.Desk{}
	v := newProfileView(ui.NewLook(ui.Options{}), d, new(int))
	v.Update(&snap)
	press := func(key rune) tea.Cmd { return v.Update(tea.KeyPressMsg{Code: key, Text: string(key)}) }
	at := func(batch, length int) map[string][]int {
		return map[string][]int{"ids": {batch, length}, "mask": {batch, length}}
	}
	for _, c := range []struct {
		row      int
		key      rune
		min, max map[string][]int
	}{
		{0, ']', at(1, 1), at(16, 512)},
		{0, '[', at(1, 1), at(4, 512)},
		{1, ']', at(1, 1), at(8, 1024)},
		{1, ')', at(1, 2), at(8, 512)},
	} {
		v.table.Select(c.row)
		press(c.key)
		if !reflect.DeepEqual(d.Asked.MinShapes, c.min) || !reflect.DeepEqual(d.Asked.MaxShapes, c.max) {
			t.Errorf("%c on axis %d: %v to %v", c.key, c.row, d.Asked.MinShapes, d.Asked.MaxShapes)
		}
	}
	press('x')
	if d.Asked.MinShapes != nil || d.Asked.MaxShapes != nil {
		t.Errorf("best alone: %v to %v", d.Asked.MinShapes, d.Asked.MaxShapes)
	}
	v.table.Select(0)
	d.Asked = config.Config{}
	if cmd := press('('); cmd == nil || d.Asked.MaxShapes != nil { // 1 is the least there is
		t.Errorf("it asks for %v", d.Asked)
	}
}

// TestParseRanges: axes by their names or by inputs; what cannot be is said by the name of what it is of.
func TestParseRanges(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"batch=1..2..8 length=1..128..512", "batch=1..2..8 length=1..128..512"},
		{"batch=4", "batch=4 length=1..128..512"},
		{"ids=1x16..2x128..4x256", "batch=1..2..4 length=16..128..256"},
		{"ids=1x16..2x64..4x64", "axis length: the best is to be 128, as in the data that are open, and not 64: length=16..128..128"},
		{"ids=1x16..2x128..4x256 batch=1..2..4", "batch=1..2..4 length=16..128..256"},
		{"ids=1x16..2x64..4x64, mask=1x16..2x64..8x64", "axis batch: ids=1x16..2x64..4x64 and mask=1x16..2x64..8x64 differ in it"},
		{"batch=8..2..1", "axis batch: 8..2..1: want 1 to"},
		{"batch=0..2..4", "axis batch: 0..2..4: want 1 to"},
		{"batch=1..2", "batch: want LEAST..BEST..LARGEST, or one for all three"},
		{"lengths=4", `no axis and no input is called "lengths"; did you mean "length"?`},
		{"ids=1..2..3", "ids: 1 has 1 extents, want 2"},
		{"batch=a", `batch: "a" is no extent`},
		{"batch", `"batch": want AXIS=LEAST..BEST..LARGEST`},
		{"table=3x7 batch=4", "batch=4 length=1..128..512"},
		{"table=3x8", "table: axis 1 is 7 in the model, and cannot be another"},
	} {
		r := panetest.Served()
		r.Points[0].Shapes["table"] = []int{3, 7}
		axes, err := parseRanges(c.text, r)
		got := rangesText(axes)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestMadeUp: data that are made up fit any best shapes.
func TestMadeUp(t *testing.T) {
	r := panetest.Served()
	r.MadeUp = true
	axes, err := parseRanges("ids=1x16..2x64..4x256 batch=1..2..4", r)
	if got := rangesText(axes); err != nil || got != "batch=1..2..4 length=16..64..256" {
		t.Error(got, err)
	}
}

// TestServe asks for an engine of other shapes, and for one of a single set.
func TestServe(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	d := &panetest.Desk{}
	for text, want := range map[string]string{
		"batch=1..4..16":         "4 map[ids:[4 128] mask:[4 128]] map[ids:[1 1] mask:[1 1]] map[ids:[16 512] mask:[16 512]]",
		"batch=3 length=128":     "3 map[ids:[3 128] mask:[3 128]] map[] map[]",
		"mask=1x1..1x128..1x256": "1 map[ids:[1 128] mask:[1 128]] map[ids:[1 1] mask:[1 1]] map[ids:[1 256] mask:[1 256]]",
	} {
		axes, err := parseRanges(text, snap.Runtime)
		if err != nil {
			t.Fatal(err)
		}
		serve(snap.Runtime, axes, 0, d)
		if got := fmt.Sprint(d.Asked.Batch, d.Asked.Shapes, d.Asked.MinShapes, d.Asked.MaxShapes); got != want {
			t.Errorf("%s asks for %s, want %s", text, got, want)
		}
	}
}

// TestProfiles: of several profiles each has its ranges, which keys change, add and drop; the first stays.
func TestProfiles(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	at := func(batch, length int) map[string][]int { return map[string][]int{"ids": {batch, length}} }
	snap.Config.Profiles = []config.Profile{{Shapes: at(1, 600), MinShapes: at(1, 513), MaxShapes: at(1, 1024)}, {MaxShapes: at(16, 8)}}
	d := &panetest.Desk{}
	d.Asked = snap.Config.Clone()
	v := newProfileView(ui.NewLook(ui.Options{}), d, new(int))
	v.Update(&snap)
	press := func(key rune) tea.Cmd { return v.Update(tea.KeyPressMsg{Code: key, Text: string(key)}) }
	for _, want := range []string{"Profile 0 (3 in all): batch=1..2..8 length=1..128..512", "Profile 1 (3 in all): batch=1 length=513..600..1024", "Profile 2 (3 in all): batch=16 length=8", "Profile 0 (3 in all): batch=1..2..8 length=1..128..512"} {
		if got := v.Title() + ": " + rangesText(v.shown().Axes); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		press('s')
	}
	other := snap.Runtime.Points[0]
	other.Latency.Median, other.MemoryBytes, other.Shapes = 7*time.Millisecond, 3<<20, at(1, 600)
	snap.Runtime.Others = []report.Served{{Points: []report.SweepPoint{other}, Contexts: []report.SweepPoint{other}, ArenaBytes: 5 << 20}}
	look, shown := ui.NewLook(ui.Options{}), new(int)
	panes := []*pointsView{newPointsView(look, overEnds, shown), newPointsView(look, overContexts, shown)}
	for _, p := range panes {
		p.Update(&snap)
	}
	panes[0].Update(tea.KeyPressMsg{Code: 's', Text: "s"})
	for _, p := range panes {
		if text := p.Render(60, 6); !strings.HasSuffix(p.Title(), ", profile 1") || !strings.Contains(text, "7.00 ms") || strings.Count(text, " ms") != 1 {
			t.Errorf("%s:\n%s", p.Title(), text)
		}
	}
	panes[1].Update(tea.KeyPressMsg{Code: 's', Text: "s"})
	if text := panes[0].Render(60, 6); !strings.HasSuffix(panes[0].Title(), ", profile 2") || strings.Contains(text, " ms") {
		t.Errorf("%s:\n%s", panes[0].Title(), text)
	}
	v.table.Select(1) // of profile 1
	press(']')
	if p := d.Asked.Profiles; len(p) != 2 || fmt.Sprint(p[0]) != "{map[ids:[1 600] mask:[1 600]] map[ids:[1 513] mask:[1 513]] map[ids:[1 2048] mask:[1 2048]]}" || d.Asked.MaxShapes != nil {
		t.Errorf("] asks for %v", p)
	}
	press('D')
	if p := d.Asked.Profiles; len(p) != 1 || p[0].MaxShapes["ids"][0] != 16 || *v.at != 0 {
		t.Errorf("D asks for %v", p)
	}
	if cmd := press('D'); cmd == nil || len(d.Asked.Profiles) != 1 {
		t.Errorf("the first is dropped: %v", d.Asked.Profiles)
	}
	axes, err := parseRanges("batch=4 length=1..64..99", ofProfile(snap.Runtime, &snap.Config, 1)) // not the data's best
	if err != nil {
		t.Fatal(err)
	}
	serve(snap.Runtime, axes, 2, d)
	if p := d.Asked.Profiles; len(p) != 2 || fmt.Sprint(p[1].Shapes) != "map[ids:[4 64] mask:[4 64]]" {
		t.Errorf("a profile more: %v", p)
	}
}

// TestFollows: an axis that follows others changes with them, and is not changed by itself.
func TestFollows(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served() // batch 1..2..8, length 1..128..512
	axes := append(snap.Runtime.Axes, report.RuntimeAxis{Symbol: "total", Min: 2, Opt: 129, Max: 513,
		Places: []report.RuntimePlace{{Input: "whole", Axis: 0}}, Follows: &report.Following{Terms: map[string]int{"length": 1}, Plus: 1}})
	snap.Runtime.Axes = axes
	snap.Runtime.Points[0].Shapes["whole"] = []int{129}
	d := &panetest.Desk{}
	v := newProfileView(ui.NewLook(ui.Options{}), d, new(int))
	v.Update(&snap)
	v.table.Select(1)
	v.Update(tea.KeyPressMsg{Code: ']', Text: "]"})
	if got := fmt.Sprint(d.Asked.MinShapes, d.Asked.MaxShapes); !strings.Contains(got, "whole:[2]") || !strings.Contains(got, "whole:[1025]") {
		t.Errorf("] asks for %s", got)
	}
	d.Asked = config.Config{}
	v.table.Select(2)
	if got := fmt.Sprint(v.Update(tea.KeyPressMsg{Code: ']', Text: "]"})()); !strings.Contains(got, "total is length + 1") || d.Asked.MaxShapes != nil {
		t.Errorf("] on what follows says %s", got)
	}
	for text, want := range map[string]string{
		"length=1..128..256":                    "batch=1..2..8 length=1..128..256 with total 2..129..257",
		"length=1..128..256 total=2..129..257":  "batch=1..2..8 length=1..128..256 with total 2..129..257",
		"length=1..128..256 whole=2..129..1024": "axis total: it is length + 1, which makes it 2..129..257",
	} {
		axes, err := parseRanges(text, snap.Runtime)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%s with total %d..%d..%d", rangesText(axes), axes[2].Min, axes[2].Opt, axes[2].Max)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if r := snap.Runtime.Ranged(); len(r) != 2 {
		t.Errorf("axes %v have ranges of their own", r)
	}
}
