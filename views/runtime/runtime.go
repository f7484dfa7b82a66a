package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
)

// profileView shows the ranges of shapes that the engine serves, an axis a row, and changes them.
type profileView struct {
	in    pane.Input
	desk  pane.Desk
	at    *int // of the profiles, the one that is shown, here and in the panes of what is measured in it
	table ui.Table

	updates uint64
}

func newProfileView(look *ui.Look, d pane.Desk, shown *int) *profileView {
	v := &profileView{in: pane.NewInput(look, report.PartRuntime), desk: d, at: shown}
	at := func(r int) *report.RuntimeAxis { return &v.shown().Axes[r] }
	number := func(title string, of func(*report.RuntimeAxis) int) ui.Column {
		return ui.Column{Title: title, Width: 9, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: fmt.Sprint(of(at(r)))} },
			Order: func(a, b int) int { return cmp.Compare(of(at(a)), of(at(b))) }}
	}
	v.table.Columns = []ui.Column{
		{Title: "axis", Name: true, Width: 10, Flex: 1, Cell: func(r int) ui.Cell { return ui.Cell{Text: at(r).Symbol} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Symbol, at(b).Symbol) }},
		number("least", least),
		number("best", best),
		number("largest", most),
		{Title: "of", Width: 12, Flex: 1, Priority: 1, Cell: func(r int) ui.Cell { return ui.Cell{Text: placesText(at(r)), Style: ui.Muted} }},
	}
	v.table.Label = func(r int) string { return at(r).Symbol }
	v.table.Empty = "no axis of the inputs is open: the engine serves one set of shapes"
	return v
}

// placesText names the inputs' axes that are a symbol, as in "x 0, mask 0", and what it follows.
func placesText(a *report.RuntimeAxis) string {
	var list []string
	for _, p := range a.Places {
		list = append(list, fmt.Sprintf("%s %d", p.Input, p.Axis))
	}
	if a.Follows != nil {
		return "= " + a.Follows.String() + ": " + strings.Join(list, ", ")
	}
	return strings.Join(list, ", ")
}

func (v *profileView) Title() string {
	if n := v.others(); n > 0 {
		return fmt.Sprintf("Profile %d (%d in all)", *v.at, n+1)
	}
	return "Profile"
}

func (v *profileView) Note() (string, ui.Style) {
	r := v.in.Snap.Runtime
	if r == nil {
		return "", ui.Muted
	}
	of := r.In(*v.at)
	if of.Points == nil {
		return v.in.Note("it is not measured yet")
	}
	return v.in.Note("a context holds " + ui.Bytes(int64(of.ArenaBytes+of.IOBytes)))
}

func (v *profileView) Keys() []ui.Key {
	return append(v.table.Keys(),
		pane.When(v.desk, pane.NeedsModel, ui.K("e", "edit", "edit the least, best and largest shapes, by axes or by inputs").Called("edit shapes")),
		pane.When(v.desk, pane.NeedsModel, ui.Key{Keys: []string{"[", "]"}, Short: "largest", Long: "halve / double the largest extent of the axis that is served"}),
		pane.When(v.desk, pane.NeedsModel, ui.Key{Keys: []string{"(", ")"}, Short: "least", Long: "halve / double the least extent of the axis that is served"}),
		nextKey,
		pane.When(v.desk, pane.NeedsModel, ui.K("a", "add", "add a profile: other ranges, with tactics of their own").Called("add profile")),
		pane.When(v.desk, pane.NeedsModel, ui.K("D", "drop", "drop the profile that is shown").Called("drop profile")),
		pane.When(v.desk, pane.NeedsModel, ui.K("x", "best alone", "serve the best shapes alone again")))
}

// nextKey goes on to the next profile, in all panes of one.
var nextKey = ui.K("s", "next profile", "the next of the engine's profiles")

// others returns how many profiles there are beside the first.
func (v *profileView) others() int { return len(v.in.Snap.Config.Profiles) }

// shown returns the report with the ranges of the profile that is chosen.
func (v *profileView) shown() *report.Runtime {
	return ofProfile(v.in.Snap.Runtime, &v.in.Snap.Config, *v.at)
}

// nextProfile goes on to the next of a configuration's profiles.
func nextProfile(at *int, c *config.Config) tea.Cmd {
	if len(c.Profiles) == 0 {
		return pane.Say(ui.Plain, "there is one profile")
	}
	*at = (*at + 1) % (len(c.Profiles) + 1)
	return nil
}

// next goes on to the next profile.
func (v *profileView) next() tea.Cmd {
	defer v.table.Refresh()
	return nextProfile(v.at, &v.in.Snap.Config)
}

// Version changes with every message, and with the profile that is shown, which other panes change, too.
func (v *profileView) Version() uint64 { return v.updates<<8 | uint64(*v.at) }

// add asks for the shapes of one more profile, which are those of the chosen one to begin with.
func (v *profileView) add() tea.Cmd {
	if n := v.others() + 1; n >= config.MaxProfiles {
		return pane.Say(ui.Plain, fmt.Sprintf("an engine has %d profiles at most", config.MaxProfiles))
	}
	r := v.in.Snap.Runtime
	if r != nil && *v.at == 0 { // at whichever best
		of := *r
		of.MadeUp = true
		r = &of
	} else {
		r = v.shown()
	}
	return edit(r, v.others()+1, v.desk)
}

// drop asks for an engine without the chosen profile.
func (v *profileView) drop() tea.Cmd {
	switch {
	case v.desk.Lacks(pane.NeedsModel) != "":
		return nil
	case *v.at == 0:
		return pane.Say(ui.Plain, "the first profile is what data are run in: another one can be dropped")
	}
	k := *v.at
	*v.at--
	v.table.Refresh()
	return v.desk.Change(func(c *config.Config) {
		if k <= len(c.Profiles) {
			c.Profiles = slices.Delete(slices.Clone(c.Profiles), k-1, k)
		}
	})
}

// change asks for an engine with other ends of an axis, as far as these are on either side of the best extent.
func (v *profileView) change(from, to func(*report.RuntimeAxis) int) tea.Cmd {
	r, row := v.shown(), v.table.Row()
	if r == nil || row < 0 || row >= len(r.Axes) {
		return nil
	}
	a := r.Axes[row]
	if a.Follows != nil {
		return pane.Say(ui.Plain, fmt.Sprintf("%s is %s: change these", a.Symbol, a.Follows))
	}
	low, high, why := a.Clip(max(1, min(from(&a), a.Opt)), min(max(to(&a), a.Opt), config.MaxExtent))
	if low == a.Min && high == a.Max {
		if why != "" {
			return pane.Say(ui.Plain, why)
		}
		return pane.Say(ui.Plain, fmt.Sprintf("%s is from %d to %d, with %d at best between them", a.Symbol, a.Min, a.Max, a.Opt))
	}
	of, k := *r, *v.at
	of.Axes = slices.Clone(r.Axes)
	of.Axes[row].Min, of.Axes[row].Max = low, high
	report.Follow(of.Axes)
	changed := v.desk.Change(func(c *config.Config) {
		if k > 0 {
			setProfile(c, k, &of)
		} else {
			c.MinShapes, c.MaxShapes = of.Shapes(least), of.Shapes(most)
		}
	})
	if why != "" {
		return tea.Sequence(changed, pane.Say(ui.Warn, why))
	}
	return changed
}

func (v *profileView) Update(msg tea.Msg) tea.Cmd {
	v.updates++
	switch {
	case pane.IsKey(msg, "e"):
		return edit(v.shown(), *v.at, v.desk)
	case pane.IsKey(msg, "s"):
		return v.next()
	case pane.IsKey(msg, "a"):
		return v.add()
	case pane.IsKey(msg, "D"):
		return v.drop()
	case pane.IsKey(msg, "]"):
		return v.change(least, func(a *report.RuntimeAxis) int { return 2 * a.Max })
	case pane.IsKey(msg, "["):
		return v.change(least, func(a *report.RuntimeAxis) int { return a.Max / 2 })
	case pane.IsKey(msg, ")"):
		return v.change(func(a *report.RuntimeAxis) int { return 2 * a.Min }, most)
	case pane.IsKey(msg, "("):
		return v.change(func(a *report.RuntimeAxis) int { return a.Min / 2 }, most)
	case pane.IsKey(msg, "x"):
		return v.desk.Change(func(c *config.Config) { c.MinShapes, c.MaxShapes, c.Profiles = nil, nil, nil })
	}
	if !v.in.Take(msg) {
		v.table.Update(msg)
		return nil
	}
	*v.at = min(*v.at, v.others())
	if r := v.in.Snap.Runtime; r != nil && v.table.Rows != len(r.Axes) {
		v.table.Rows = len(r.Axes)
		v.table.Refresh()
	}
	return nil
}

func (v *profileView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Runtime == nil {
			v.in.Wait(c, "profile")
			return
		}
		v.table.Draw(c)
	})
}
