package runtime

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane/panetest"
)

// TestLimit: a range is narrowed to what the model allows, and the layer that keeps it there is named.
func TestLimit(t *testing.T) {
	snap := *panetest.Fixture(t)
	snap.Runtime = panetest.Served()
	alone := &snap.Runtime.Axes[0]
	alone.Min, alone.Max, alone.Limit = 2, 2, &report.ExtentLimit{Least: 2, Most: 2, Why: "layer heads (Reshape)"}
	snap.Runtime.Axes[1].Limit = &report.ExtentLimit{Least: 1, Most: 600, Why: "layer positions (Add)"}
	d := &panetest.Desk{}
	v := newProfileView(ui.NewLook(ui.Options{}), d, new(int))
	v.Update(&snap)
	v.table.Select(0)
	said := func(cmd tea.Cmd) string {
		if cmd == nil {
			return ""
		}
		return fmt.Sprint(cmd())
	}
	if got := said(v.Update(tea.KeyPressMsg{Code: ']', Text: "]"})); !strings.Contains(got, "batch can be 2 alone: layer heads (Reshape)") || d.Asked.MaxShapes != nil {
		t.Errorf("] says %q and asks for %v", got, d.Asked.MaxShapes)
	}
	v.table.Select(1)
	v.Update(tea.KeyPressMsg{Code: ']', Text: "]"})
	if got := fmt.Sprint(d.Asked.MaxShapes["ids"]); got != "[2 600]" {
		t.Errorf("] asks for %s", got)
	}
	axes, err := parseRanges("batch=1..2..8 length=1..128..1024", snap.Runtime)
	if err != nil {
		t.Fatal(err)
	}
	if got := narrow(axes); got != "batch can be 2 alone: layer heads (Reshape); length can be 1 to 600: layer positions (Add)" || rangesText(axes) != "batch=2 length=1..128..600" {
		t.Errorf("%s: %q", rangesText(axes), got)
	}
	if got := narrow(axes); got != "" {
		t.Errorf("narrowed twice: %q", got)
	}
}
