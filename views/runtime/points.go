package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// pointsView shows latency, throughput and memory at some points, one a row.
type pointsView struct {
	in    pane.Input
	over  over
	at    *int       // the profile that is measured; a curve goes through all
	limit int        // index into limits, of contexts
	along alongAxis  // of a curve, or a grid
	split *splitting // of a curve
	table ui.Table

	updates uint64
}

// over is what the points of a view differ in.
type over uint8

const (
	overEnds     over = iota // the shapes at the ends of a profile
	overAxis                 // the extent of an axis, or of two
	overContexts             // how many contexts run at the same time
)

// limits are the latencies that are allowed, in latencies of a context by itself; 0: any.
var limits = []float64{0, 1.25, 1.5, 2, 4}

func newPointsView(look *ui.Look, of over, shown *int) *pointsView {
	v := &pointsView{in: pane.NewInput(look, report.PartRuntime), over: of, at: shown, along: alongAxis{sweep: &report.Sweep{}}}
	at := func(r int) *report.SweepPoint { return &v.points()[r] }
	v.table.Columns = []ui.Column{
		{Title: [...]string{"shapes", "shapes", "contexts"}[of], Width: [...]int{8, 12, 8}[of], Flex: 1, Name: true, Cell: func(r int) ui.Cell { return ui.Cell{Text: v.name(r)} }},
		{Title: "median", Width: 9, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Duration(at(r).Latency.Median)} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Latency.Median, at(b).Latency.Median) }},
		{Title: "p99", Width: 9, Priority: 3, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Duration(at(r).Latency.P99), Style: ui.Muted} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Latency.P99, at(b).Latency.P99) }},
		{Title: "CV", Width: 6, Priority: 4, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return spread(&at(r).Latency) },
			Order: func(a, b int) int { return cmp.Compare(at(a).Latency.CV, at(b).Latency.CV) }},
		{Title: "items/s", Width: 8, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Number(at(r).Throughput)} },
			Order: func(a, b int) int { return cmp.Compare(at(a).Throughput, at(b).Throughput) }},
		{Title: "", Width: 8, Flex: 2, Priority: 2, Cell: func(r int) ui.Cell { return v.bar(at(r)) }},
		{Title: "memory", Width: 9, Priority: 1, Align: ui.AlignRight, Cell: func(r int) ui.Cell { return ui.Cell{Text: ui.Bytes(int64(at(r).MemoryBytes))} },
			Order: func(a, b int) int { return cmp.Compare(at(a).MemoryBytes, at(b).MemoryBytes) }},
	}
	v.table.Label = v.name
	if n := len(v.table.Columns); of == overEnds { // a bar of memory, behind it
		v.table.Columns[n-2], v.table.Columns[n-1] = v.table.Columns[n-1], v.table.Columns[n-2]
	}
	if of == overContexts {
		v.table.Columns = slices.Insert(v.table.Columns, 1, ui.Column{Title: "threads", Width: 7, Priority: 5, Align: ui.AlignRight, Cell: v.threads,
			Order: func(a, b int) int { return cmp.Compare(threadsOf(at(a)), threadsOf(at(b))) }})
	}
	return v
}

func (v *pointsView) points() []report.SweepPoint {
	switch r := v.in.Snap.Runtime; v.over {
	case overAxis:
		return v.along.sweep.Points
	case overContexts:
		return r.In(*v.at).Contexts
	default:
		points := r.In(*v.at).Points
		if len(points) == 0 || points[0].Latency.Median == 0 {
			return nil
		}
		return points
	}
}

// Version changes with every message, and with the profile that is shown, which other panes change, too.
func (v *pointsView) Version() uint64 { return v.updates<<8 | uint64(*v.at) }

// name says where a point is.
func (v *pointsView) name(row int) string {
	switch {
	case v.over == overAxis:
		return config.TimesText(v.along.sweep.Points[row].Values) + v.along.mark(row)
	case v.over == overContexts:
		name := fmt.Sprint(v.points()[row].Contexts)
		points := slices.Clone(v.points())
		switch best := report.ChooseBest(points, v.allowed()); {
		case row == best:
			name += " best"
		case points[row].Alike: // within noise
			name += " ~best"
		}
		return name
	case len(v.points()) == 1:
		return "all"
	}
	return [...]string{"least", "best", "largest"}[min(row, 2)] // a file may have more
}

// spread is by how much a latency varies, which is by how much one may err that ranks points.
func spread(l *report.Latency) ui.Cell {
	style := ui.Muted
	if l.Unstable() {
		style = ui.Warn
	}
	return ui.Cell{Text: words.Percent(l.CV), Style: style}
}

// allowed returns the longest latency that is allowed; 0: any.
func (v *pointsView) allowed() time.Duration {
	if v.over == overAxis {
		return v.along.limit
	}
	alone := v.points()[0].Latency.Median
	return time.Duration(limits[v.limit] * float64(alone))
}

// best returns the number of contexts with the highest throughput within the limit.
func (v *pointsView) best() int {
	return report.ChooseBest(slices.Clone(v.points()), v.allowed())
}

// bar is the memory beside what a context holds at the ends, otherwise the throughput beside that of the other points.
func (v *pointsView) bar(p *report.SweepPoint) ui.Cell {
	if v.over == overEnds {
		return ui.Cell{Bar: &ui.Bar{Value: float64(p.MemoryBytes), Max: float64(max(1, p.HeldBytes)), Style: ui.Series8}}
	}
	most := 1e-9
	for _, o := range v.points() {
		most = max(most, o.Throughput)
	}
	style := ui.Good
	if limit := v.allowed(); limit > 0 && p.Latency.Median > limit {
		style = ui.Bad
	}
	return ui.Cell{Bar: &ui.Bar{Value: p.Throughput, Max: most, Style: style}}
}

func (v *pointsView) Title() string {
	if r := v.in.Snap.Runtime; v.over == overAxis && v.along.over(r) {
		return v.along.names(r)
	}
	title := [...]string{"Least, best, largest", "Along an axis", "Contexts at a time"}[v.over]
	if *v.at > 0 {
		title += fmt.Sprintf(", profile %d", *v.at)
	}
	return title
}

func (v *pointsView) Note() (string, ui.Style) {
	r := v.in.Snap.Runtime
	switch row := v.table.Row(); {
	case r == nil || row < 0 || row >= len(v.points()):
		return "", ui.Muted
	case v.over == overContexts:
		own, best := v.in.Snap.Device.Threads, v.best()
		if best >= 0 && own > 0 && threadsOf(&v.points()[best]) > own {
			note := fmt.Sprintf("best takes %d threads, engine has %d", threadsOf(&v.points()[best]), own)
			if v.limit > 0 {
				note = v.limitText() + ", " + note
			}
			return note, ui.Warn
		}
		if v.allowed() > 0 {
			return v.in.Note(v.limitText() + ", items/s by wall time")
		}
		return v.in.Note("by wall time, " + v.limitText()) // where there is no room for both, that there is no limit goes without saying
	case v.over == overAxis && v.split.of(v.along.axis(r)) != nil:
		return v.split.note(v.split.of(v.along.axis(r)))
	case v.over == overAxis:
		return v.in.Note(v.along.place(r) + v.limitText() + v.along.rest(r) + ", items/s by median")
	default:
		return v.in.Note("items/s by median, " + inputShapes(v.points()[row].Shapes))
	}
}

// threadsOf returns how many threads the contexts of a point have together; 0 where none are counted, as on a GPU.
func threadsOf(p *report.SweepPoint) int { return p.Contexts * p.Threads }

// threads is how many the contexts of a row have, each one at least, which may be more than a context by itself has.
func (v *pointsView) threads(row int) ui.Cell {
	n, own := threadsOf(&v.points()[row]), v.in.Snap.Device.Threads
	switch {
	case n == 0:
		return ui.Cell{Text: "·", Style: ui.Muted}
	case own > 0 && n > own:
		return ui.Cell{Text: fmt.Sprint(n), Style: ui.Warn}
	}
	return ui.Cell{Text: fmt.Sprint(n)}
}

// limitText says which latency is allowed.
func (v *pointsView) limitText() string {
	if limit := v.allowed(); limit > 0 {
		return "at most " + ui.Duration(limit)
	}
	return "any latency"
}

// inputShapes writes the shape of the only input, or how many there are.
func inputShapes(shapes map[string][]int) string {
	if len(shapes) != 1 {
		return words.Plural(len(shapes), "input")
	}
	for _, dims := range shapes {
		return config.TimesText(dims)
	}
	return ""
}

func (v *pointsView) Keys() []ui.Key {
	switch v.over {
	case overEnds:
		return append(v.table.Keys(), nextKey)
	case overAxis:
		return append(v.table.Keys(),
			ui.K("s", "next axis", "along the next of the axes that have a range; behind the last, over two at once, pair by pair"),
			ui.K("=", "latency limit", "latency limit: mark the best batch, or the largest extent, within another latency"),
			pane.When(v.split.desk, pane.NeedsRun, ui.K("A", "one or two", "measure whether two profiles serve the axis better than one: engines whose tactics are timed elsewhere in its range, beside the engine")),
			pane.When(v.split.desk, pane.NeedsModel, ui.K("p", "two profiles", "serve the axis with the two profiles that were found")))
	}
	return append(v.table.Keys(), nextKey, ui.K("=", "latency limit", "latency limit: mark the best number of contexts within another latency: any, or so many times that of one"))
}

func (v *pointsView) Update(msg tea.Msg) tea.Cmd {
	v.updates++
	r := v.in.Snap.Runtime
	switch {
	case v.over != overAxis && pane.IsKey(msg, "s"):
		defer v.fit()
		return nextProfile(v.at, &v.in.Snap.Config)
	case v.over == overContexts && pane.IsKey(msg, "="):
		v.limit = (v.limit + 1) % len(limits)
		return nil
	case v.over == overAxis && pane.IsKey(msg, "="):
		cmd := v.along.nextLimit()
		v.along.choose(r)
		return cmd
	case v.over == overAxis && v.along.over(r) && (pane.IsKey(msg, "A") || pane.IsKey(msg, "p")):
		return pane.Say(ui.Plain, "two profiles are of one axis: s goes on to it")
	case v.over == overAxis && pane.IsKey(msg, "A"):
		return v.split.measure(v.along.axis(r))
	case v.over == overAxis && pane.IsKey(msg, "p"):
		return v.split.take(v.along.axis(r))
	case v.over == overAxis && pane.IsKey(msg, "s"):
		cmd := v.along.next(r)
		v.fit()
		return cmd
	}
	if at, ok := msg.(pointAt); ok {
		v.table.Select(int(at))
		return nil
	}
	if !v.in.Take(msg) {
		v.table.Update(msg)
		return nil
	}
	if v.split != nil {
		v.split.snap = v.in.Snap
	}
	v.fit()
	return nil
}

// fit gives the table the rows of the points that are shown.
func (v *pointsView) fit() {
	rows, r := 0, v.in.Snap.Runtime
	if v.over == overAxis {
		v.along.choose(r)
		if a := v.along.axis(r); a != nil || v.along.over(r) {
			v.table.Columns[0].Title = "extents"
			if a != nil {
				v.table.Columns[0].Title = a.Symbol
			}
			v.table.Columns = v.split.columns(v.table.Columns, a, func(r int) *report.SweepPoint { return &v.points()[r] })
		}
	}
	if r != nil {
		rows = len(v.points())
	}
	if v.table.Rows != rows {
		v.table.Rows = rows
		v.table.Refresh()
	}
}

func (v *pointsView) Render(w, h int) string {
	return v.in.Look.Render(w, h, func(c *ui.Canvas) {
		if v.in.Snap.Runtime == nil {
			v.in.Wait(c, "runtime")
			return
		}
		v.fit() // another pane may have chosen another profile
		v.table.Empty = v.nothing(c)
		if v.over == overAxis {
			c = v.along.draw(c, v.in.Snap.Runtime, &v.table, v.split.draw)
		}
		v.table.Draw(c)
	})
}

// nothing says why there are no points.
func (v *pointsView) nothing(c *ui.Canvas) string {
	snap, what := v.in.Snap, "it"
	if v.over == overAxis {
		switch {
		case v.along.axis(snap.Runtime) != nil || v.along.over(snap.Runtime):
			what = v.along.names(snap.Runtime)
		case len(snap.Runtime.Axes) == 0:
			return "no range is served: no axis of the inputs is open"
		case snap.Replay != "":
			return "no range was served when this was recorded"
		default:
			return c.Keys("no range is served: {Runtime ]} in the pane Profile doubles the largest extent of an axis")
		}
	}
	if v.over != overAxis && *v.at > 0 {
		what = fmt.Sprintf("profile %d", *v.at)
	}
	switch {
	case snap.Device.Estimated:
		return "nothing is measured here: times are estimates"
	case snap.Replay != "":
		return what + " was not measured when this was recorded"
	case snap.Stopped:
		return c.Keys(what + " is not measured: {r} goes on")
	case snap.Busy != nil:
		return what + " will be measured"
	}
	return "nothing is measured here"
}
