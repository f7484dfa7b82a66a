package runtime

import (
	"reflect"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestRanges changes the ends of an axis, in every input that has it, and goes back to one set of shapes.
func TestRanges(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	d := &panetest.Desk{}
	v := newProfileView(ui.NewLook(ui.Options{}), d)
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
