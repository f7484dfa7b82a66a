package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
	"github.com/trtui/trtui/views/pane"
	"github.com/trtui/trtui/views/words"
)

// detailView tells what is known about the layer under the cursor, or about the pass.
type detailView struct {
	g     *graphs
	list  ui.List
	lines []detailLine
	width int // that was drawn last: facts are wrapped to it
	built ofPass
}

// ofPass is what the lines about a pass depend on; the zero value: they are not about one.
type ofPass struct {
	passes      *report.Passes
	step, width int
}

func newDetailView(g *graphs) *detailView {
	v := &detailView{g: g}
	v.list = ui.List{Line: func(i int) ui.ListLine { return v.lines[i].ListLine }, Empty: "no layer here"}
	return v
}

// Named implements ui.Named.
func (v *detailView) Named() string {
	if v.g.state.ofPass {
		return ""
	}
	if l := v.g.sides.list().layer(); l != nil {
		return words.ShortName(l.Name)
	}
	return ""
}

func (v *detailView) Title() string {
	if v.g.state.ofPass {
		if v.g.state.step == engineStep {
			return "Rules"
		}
		return "Pass " + v.g.snap().Passes.Steps[v.g.state.step].Pass
	}
	list := v.g.sides.list()
	if l := list.layer(); l != nil {
		return "Layer " + words.ShortName(l.Name)
	}
	if line := list.line(); line != nil {
		return strings.TrimSpace(blockText(list.layers, line))
	}
	return "Layer"
}

func (v *detailView) Note() (string, ui.Style) { return v.g.state.in.Note("") }

func (v *detailView) Keys() []ui.Key {
	return append(append(v.g.keys(), ui.K("enter", "open", "each place of a line that stands for many, below it; the layer of a line that names one it reads, or that reads it")), v.list.Keys()...)
}

func (v *detailView) Update(msg tea.Msg) tea.Cmd {
	if s, ok := msg.(*report.Snapshot); ok {
		v.g.state.take(s)
		return nil
	}
	v.build()
	if v.list.Update(msg) {
		return nil
	}
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	if at := v.list.At(); at >= 0 {
		line := &v.lines[at]
		switch {
		case k.String() == "x" && line.site != nil:
			return v.g.toggle([]site{*line.site})
		case k.String() == "enter" && line.folded != siteCause{}:
			v.g.state.causes[line.folded] = !v.g.state.causes[line.folded]
			v.built = ofPass{}
			return nil
		case k.String() == "enter" && line.to != "":
			return v.g.walk.to(line.to)
		}
	}
	return v.g.key(k.String())
}

func (v *detailView) Render(w, h int) string {
	return v.g.look().Render(w, h, func(c *ui.Canvas) {
		if v.g.snap().Passes == nil {
			v.g.state.in.Wait(c, "what the passes did")
			return
		}
		v.width = w
		v.build()
		v.list.Draw(c)
	})
}

// build makes the lines of what the cursor is on.
func (v *detailView) build() {
	want := ofPass{}
	if v.g.state.ofPass && v.g.state.step != engineStep {
		want = ofPass{v.g.snap().Passes, v.g.state.step, v.width}
	}
	if want != (ofPass{}) && want == v.built {
		return
	}
	v.lines, v.built = v.lines[:0], want
	if v.g.snap().Passes != nil {
		switch {
		case v.g.state.ofPass && v.g.state.step != engineStep:
			v.buildPass(&v.g.snap().Passes.Steps[v.g.state.step])
		case v.g.state.ofPass:
			v.buildRules()
		case v.g.sides.list().layer() == nil:
			v.buildBlocks(v.g.sides.list())
		default:
			v.buildLayer()
		}
	}
	v.list.Lines = len(v.lines)
	v.list.Refresh()
}

func (v *detailView) add(spans ...ui.Span) {
	v.lines = append(v.lines, detailLine{ListLine: ui.ListLine{Spans: spans}})
}

// fact adds a name and what is to be said of it, over as many lines as that needs.
func (v *detailView) fact(name, text string) {
	v.factIn(ui.Plain, name, text)
}

// warn is fact for what is not as it should be.
func (v *detailView) warn(name, text string) { v.factIn(ui.Warn, name, text) }

func (v *detailView) factIn(style ui.Style, name, text string) {
	const column, margins = 12, 3
	if text == "" {
		return
	}
	for _, line := range ui.Wrap(text, max(v.width-column-margins, 24)) {
		v.add(ui.Span{Text: words.Pad(name, column), Style: ui.Muted}, ui.Span{Text: line, Style: style})
		name = ""
	}
}

// buildBlocks describes the blocks under the cursor: of what one consists, and what they take.
func (v *detailView) buildBlocks(n *networkList) {
	line := n.line()
	if line == nil {
		return
	}
	layers, size := n.of(line), line.layers/line.blocks
	if line.blocks > 1 {
		v.fact("blocks", fmt.Sprintf("%d of %s, %d in all", line.blocks, words.Plural(size, "layer"), line.layers))
	}
	var ops []string
	count := map[string]int{}
	flops, weights := int64(0), 0
	for i, l := range layers {
		flops, weights = flops+l.FLOPs, weights+l.Weights
		if i >= size {
			continue
		}
		if count[l.Op]++; count[l.Op] == 1 {
			ops = append(ops, l.Op)
		}
	}
	for i, op := range ops {
		ops[i] = fmt.Sprintf("%d %s", count[op], op)
	}
	v.fact("one has", strings.Join(ops, ", "))
	v.fact("work", ui.Quantity(float64(flops), "FLOP")+", weights "+ui.Bytes(int64(weights)))
	v.lines = append(v.lines, edgeLines(n, v.width)...)
	if n.times == nil {
		return
	}
	share := 0.0
	for _, l := range layers {
		if t, ok := n.times[l.Name]; ok {
			share += t.Share
		}
	}
	v.fact("time", fmt.Sprintf("%s, %s of the layers", ui.Duration(n.times.sum(layers)), words.Percent(share)))
	if line.blocks > 1 {
		least, most := time.Duration(math.MaxInt64), time.Duration(0)
		for block := range slices.Chunk(layers, size) {
			t := n.times.sum(block)
			least, most = min(least, t), max(most, t)
		}
		v.fact("of a block", ui.Duration(least)+" to "+ui.Duration(most))
	}
}

// buildLayer describes a layer: what it is, what became of it, and which rules fitted it or did not.
func (v *detailView) buildLayer() {
	l := v.g.sides.list().layer()
	if l == nil {
		return
	}
	what := l.Op
	if l.Precision != "" {
		what += " " + l.Precision
	}
	for _, t := range l.Outputs {
		what += " " + cmp.Or(t.Dims, "?")
	}
	if l.FLOPs > 0 {
		what += ", " + ui.Quantity(float64(l.FLOPs), "FLOP")
	}
	if l.Weights > 0 {
		what += ", weights " + ui.Bytes(int64(l.Weights))
	}
	v.fact("layer", what)
	switch {
	case l.Behind != "":
		v.warn("blocked", l.Unsupported)
	case l.Unsupported != "":
		v.warn("unsupported", l.Unsupported)
	}
	if v.g.state.side == sourceSide {
		v.fact("fate", fateText(v.g.state.fates[l.Name]))
	} else {
		v.fact("members", words.JoinLayers(l.From))
		if t, ok := v.g.sides.lists[engineSide].times[l.Name]; ok {
			v.fact("time", fmt.Sprintf("%s, %s of the layers, tactic %s", ui.Duration(t.Median), words.Percent(t.Share), t.Tactic))
		}
	}
	if v.g.state.side == sourceSide { // it is what it is computed in that counts
		v.fact("set to", pane.RulesOf(v.g.desk, v.g.snap()).Text(l.Name, []string{l.Name}, ""))
	} else {
		v.fact("set to", pane.RulesOf(v.g.desk, v.g.snap()).Text(l.Name, l.From, l.Precision))
	}
	v.addUnlowered(l)
	v.lines = append(v.lines, edgeLines(v.g.sides.list(), v.width)...)
	for _, d := range l.Details {
		text := d.Text
		if d.Size > 0 {
			text = ui.Bytes(d.Size) + " " + text
		}
		v.fact(d.Name, text)
	}
	v.fact("attributes", l.Attrs)
	v.fact("epilogue", l.Epilogue)
	sites, copied := v.g.sites(), v.copied(l)
	if len(sites) == 0 && copied == nil && l.Unsupported == "" {
		v.fact("rules", "none has a pattern that fits here")
	}
	lines := siteLines(v.g.state, sites)
	if copied != nil {
		lines = append(lines, detailLine{ListLine: *copied})
	}
	v.lines = append(v.lines, whole(lines, v.width)...)
}

// copied says of a layer that could only arrange memory, and copies, how much and why, as of a rule that was rejected; nil of others.
func (v *detailView) copied(l *report.Layer) *ui.ListLine {
	name := l.Name
	if v.g.state.side == sourceSide {
		name = v.g.state.fates[l.Name].Into
	}
	c := v.g.snap().Tactics.Copied(name)
	if c == nil {
		return nil
	}
	line := &ui.ListLine{Mark: v.g.look().Glyphs.Bad, Style: ui.Warn, Spans: []ui.Span{{Text: "in memory", Style: ui.Accent}, {Text: " rejected", Style: ui.Muted}}}
	why := c.Reason
	if t, ok := v.g.sides.lists[engineSide].times[name]; ok && t.Bytes > 0 {
		why += "; " + ui.Bytes(t.Bytes) + " are moved"
	}
	if c.Code != "" { // recordings of before have none
		line.Spans = append(line.Spans, ui.Span{Text: ": ", Style: ui.Muted}, ui.Span{Text: c.Code, Style: ui.Warn})
	}
	line.Spans = append(line.Spans, ui.Span{Text: ", " + why, Style: ui.Muted})
	return line
}

// addUnlowered says why a layer, or a member of it, was left in another precision than the one asked for.
func (v *detailView) addUnlowered(l *report.Layer) {
	members := l.From
	if v.g.state.side == sourceSide {
		members = []string{l.Name}
	}
	for _, u := range v.g.snap().Passes.Unlowered {
		if slices.ContainsFunc(u.From, func(name string) bool { return slices.Contains(members, name) }) {
			v.fact("not "+string(v.g.snap().Config.Precision), u.Precision+": "+u.Reason)
			return
		}
	}
}

// buildPass describes a pass: what it did and did not, and the lines of the network that it changed.
func (v *detailView) buildPass(st *report.PassStep) {
	var does []string // rules of a file each have their own
	for _, r := range v.g.snap().Passes.Rules {
		fired := slices.ContainsFunc(st.Fired, func(f report.FiredSite) bool { return f.Rule == r.Name })
		if (fired || r.Name == st.Pass) && !slices.Contains(does, r.Doc) {
			does = append(does, r.Doc)
		}
	}
	if len(does) > 0 {
		v.fact("does", strings.Join(does, "; "))
	}
	_, before := v.g.state.network()
	v.fact("layers", fmt.Sprintf("%d before, %d after, in %s", len(before), st.Layers, ui.Duration(st.Elapsed)))
	v.lines = append(v.lines, siteLines(v.g.state, v.g.sites())...)
	changes := v.g.state.difference().lines
	if len(changes) == 0 {
		v.add(ui.Span{Text: "the network is unchanged", Style: ui.Muted})
		return
	}
	v.add(ui.Span{Text: "changes", Style: ui.Bold})
	for _, c := range changes {
		line := detailLine{ListLine: ui.ListLine{Mark: '+', Style: ui.Good, Spans: []ui.Span{{Text: c.text, Style: ui.Good}}}}
		if c.removed {
			line = detailLine{ListLine: ui.ListLine{Mark: '-', Style: ui.Bad, Spans: []ui.Span{{Text: c.text, Style: ui.Bad}}}}
		}
		v.lines = append(v.lines, line)
	}
}

// buildRules lists all rules with how often they did something, and which are switched off.
func (v *detailView) buildRules() {
	p := v.g.snap().Passes
	done, missed, forks := map[string]int{}, map[string]int{}, forkSites(v.g.snap())
	for _, s := range forks {
		if s.reason == "" {
			done[s.rule]++
		} else {
			missed[s.rule]++
		}
	}
	for _, st := range p.Steps {
		for _, f := range st.Fired {
			done[f.Rule]++
		}
		for _, m := range st.Missed {
			missed[m.Rule]++
		}
	}
	off := map[string]bool{}
	for _, d := range p.Disabled {
		off[d] = true
		if strings.Contains(d, ":") {
			v.add(ui.Span{Text: "off here  ", Style: ui.Warn}, ui.Span{Text: d})
		}
	}
	seen := map[string]bool{}
	for _, r := range p.Rules {
		if seen[r.Name] {
			continue
		}
		seen[r.Name] = true
		line := detailLine{site: &site{rule: r.Name}}
		line.Mark, line.Style = v.g.look().Glyphs.Good, ui.Good
		if off[r.Name] {
			line.Mark, line.Style = v.g.look().Glyphs.Bad, ui.Warn
		}
		line.Spans = []ui.Span{{Text: words.Pad(r.Name, 24), Style: ui.Accent}, {Text: timesText(done[r.Name], missed[r.Name])}, {Text: r.Doc, Style: ui.Muted}}
		v.lines = append(v.lines, line)
	}
	if len(forks) > 0 {
		v.add(ui.Span{Text: "side by side", Style: ui.Bold})
		v.lines = append(v.lines, whole(siteLines(v.g.state, forks), v.width)...)
	}
}

// timesText says how often a rule was applied and rejected; of one that fitted nowhere there is nothing to say.
func timesText(applied, rejected int) string {
	text := ""
	if applied > 0 {
		text = fmt.Sprintf("%d applied  ", applied)
	}
	if rejected > 0 {
		text += fmt.Sprintf("%d rejected  ", rejected)
	}
	return text
}
