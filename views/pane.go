package views

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// need is what a key's work needs. Whether that is there is decided in one place, [available.lacks]: keys that lack something
// are in no footer and no help, and pressing one tells why.
type need int

// The needs.
const (
	needsModel  need = iota // to change what is built from the model, or to measure it
	needsRun                // to run it anew
	needsDevice             // to measure: estimates do not get better
	needsChoice             // of the precision of layers: the model must leave one
	needsRecorder
	needsPast
	needsFuture
	needsPrecision    // another precision to go to
	needsCalibrator   // another calibrator to go to
	needsQuantization // a model that is quantised here
	needsPercentile   // the calibrator with that parameter
	needsChanged      // a model whose files are not any more what was read
	needsJob          // something that runs and can be stopped, or that can be left
)

// desk is what a pane may ask of the workbench. A pane that changes nothing has none.
type desk interface {
	// Want returns the configuration that is asked for; that of snapshots follows.
	Want() config.Config
	// Change asks for the configuration that edit makes of that one.
	Change(edit func(*config.Config)) tea.Cmd
	// Lacks says what the state at hand lacks of what a key needs; "" where the key works.
	Lacks(need) string
}

// input is what a pane draws: the reports of the newest snapshot, in the look of the program.
type input struct {
	look    *ui.Look
	snap    *report.Snapshot // never nil
	part    report.Parts     // the reports that the pane shows
	untimed string           // what its times are where nothing is measured
}

func newInput(look *ui.Look, part report.Parts) input {
	return input{look: look, snap: &report.Snapshot{}, part: part}
}

// take keeps a snapshot; it reports whether the message was one.
func (p *input) take(msg tea.Msg) bool {
	snap, ok := msg.(*report.Snapshot)
	if ok {
		p.snap = snap
	}
	return ok
}

// note returns text, and before it that the pane is stale if it is, and that its times are estimates if they are.
func (p *input) note(text string) (string, ui.Style) {
	var notes []string
	if p.snap.Stale&p.part&p.snap.Made() != 0 {
		notes = append(notes, "stale")
	}
	if p.snap.Device.Estimated && p.part.Has(report.PartTimings|report.PartOverview) {
		notes = append(notes, "estimated")
	}
	if p.snap.Device.Estimated && p.part.Has(report.PartTactics) {
		notes = append(notes, cmp.Or(p.untimed, "untimed"))
	}
	if len(notes) == 0 {
		return text, ui.Muted
	}
	if text != "" {
		notes = append(notes, text)
	}
	return strings.Join(notes, " "+string(p.look.Glyphs.Dot)+" "), ui.Warn
}

// live reports whether the times of a snapshot are being measured now.
func live(s *report.Snapshot) bool {
	t := s.Timings
	return t != nil && t.Live && s.Replay == "" && !s.Stopped && !s.Stale.Has(report.PartTimings)
}

// cutShort returns after how many runs the measurement of the times was stopped, 0 where it was not.
func cutShort(s *report.Snapshot) int {
	if t := s.Timings; t != nil && t.Live && s.Stopped && !s.Stale.Has(report.PartTimings) {
		return t.Samples
	}
	return 0
}

// wait draws what is shown in place of a report that has not been made yet: what is awaited and what is being done.
func (p *input) wait(c *ui.Canvas, what string) {
	if c.W < 4 || c.H < 1 {
		return
	}
	y := 0
	if c.H > 3 {
		y = 1
	}
	switch b := p.snap.Busy; {
	case p.snap.Err != "":
		c.Fit(1, y, c.W-2, ui.Bad, string(c.Glyphs().Bad)+" "+what+": stopped by an error")
		for i, line := range ui.Wrap(p.snap.Err, c.W-4) {
			c.Text(3, y+1+i, ui.Plain, line)
		}
	case p.snap.Viewed() != "":
		c.Fit(1, y, c.W-2, ui.Muted, "no "+what+": not in the files that were opened")
		for i, line := range ui.Wrap(p.snap.Viewed()+" has none. Open the ONNX model that the engine was built from, and it is made here.", c.W-4) {
			c.Text(3, y+1+i, ui.Plain, line)
		}
	case p.snap.Refused() && p.part&^(report.PartModel|report.PartPasses) != 0:
		c.Fit(1, y, c.W-2, ui.Muted, "no "+what+": the model is not runnable")
		whyRefused(c, y+1, ui.Plain, p.snap.Model.NotRunnable)
	case b != nil && p.snap.Replay != "":
		c.Fit(1, y, c.W-2, ui.Muted, what+": not available yet when this was recorded, during")
		c.Fit(1, y+1, c.W-2, ui.Plain, b.String())
	case b != nil:
		c.Fit(1, y, c.W-2, ui.Muted, what+" will follow")
		c.Fit(1, y+1, c.W-2, ui.Plain, b.String())
	case p.snap.Stopped:
		c.Fit(1, y, c.W-2, ui.Muted, what+": stopped before it was available")
		c.Fit(1, y+1, c.W-2, ui.Plain, "press r to continue")
	case p.snap.Seq == 0:
		c.Fit(1, y, c.W-2, ui.Muted, "opening the model")
	case p.snap.Model != nil && p.snap.Model.Stripped && p.part.Has(report.PartAccuracy|report.PartCalibration):
		c.Fit(1, y, c.W-2, ui.Muted, "no "+what+": the engine does not hold its source model")
		for i, line := range ui.Wrap("Open that model instead, or build the engine again with its source kept.", c.W-4) {
			c.Text(3, y+1+i, ui.Plain, line)
		}
	default:
		c.Fit(1, y, c.W-2, ui.Muted, "no "+what+" for this model")
	}
}

// whyRefused draws a text on why the model cannot be run, and where there is more to see; it returns the line behind that.
func whyRefused(c *ui.Canvas, y int, style ui.Style, text string) int {
	for _, line := range ui.Wrap(text, c.W-2) {
		c.Fit(1, y, c.W-2, style, line)
		y++
	}
	c.Fit(1, y, c.W-2, ui.Muted, "screen 2 marks the layers with "+string(c.Glyphs().Warn))
	return y + 1
}

// precisionStyle returns the colour of a number format.
func precisionStyle(precision string) ui.Style {
	switch precision {
	case "f32", "fp32":
		return ui.F32
	case "f16", "fp16":
		return ui.F16
	case "i8", "u8", "int8":
		return ui.I8
	}
	return ui.OtherType
}

// percent writes a share as "12.3%".
func percent(share float64) string {
	switch v := 100 * share; {
	case v != 0 && v < 0.1 && v > -0.1:
		return fmt.Sprintf("%.2f%%", v)
	case v >= 1000:
		return ui.Number(v) + "%"
	default:
		return fmt.Sprintf("%.1f%%", v)
	}
}

// exactSQNR is the SQNR, in dB, that stands for equality in reports.
const exactSQNR = 200

// decibels writes an SQNR; equality has none.
func decibels(v float64) string {
	if v >= exactSQNR {
		return "exact"
	}
	return fmt.Sprintf("%.1f", v)
}

// plural writes a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return ui.Count(n) + " " + noun + "s"
}

// snapshotLabel names the configuration of a snapshot.
func snapshotLabel(s *report.Snapshot) string { return s.Config.Label(ownRanges(s)) }

// ownRanges reports whether the model brings its own quantisation, so that calibrators do not apply.
func ownRanges(s *report.Snapshot) bool {
	return s.Model != nil && s.Model.Ops["QuantizeLinear"]+s.Model.Ops["DequantizeLinear"] > 0
}

// isKey reports whether a message is the press of a key.
func isKey(msg tea.Msg, name string) bool {
	k, ok := msg.(tea.KeyPressMsg)
	return ok && k.String() == name
}

// durationLabel writes nanoseconds on an axis.
func durationLabel(ns float64) string { return ui.Duration(time.Duration(ns)) }

// signed writes a difference of times with its sign.
func signed(d time.Duration) string {
	if d < 0 {
		return "-" + ui.Duration(-d)
	}
	return ui.Duration(d)
}

// shortName names a fused layer by its principal member and the number of the others: fused layers are named after all of
// their members, the principal first, which no column is wide enough for.
func shortName(name string) string {
	first, others := report.Principal(name)
	return first + others
}

// moreBytes writes a difference of bytes with its sign.
func moreBytes(n int) string {
	if n < 0 {
		return "-" + ui.Bytes(int64(-n))
	}
	return "+" + ui.Bytes(int64(n))
}

// joinLayers writes names of layers one after the other; what all begin with, up to a slash, only once:
// "stem/conv/Conv + norm/BatchNormalization".
func joinLayers(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, report.MemberSeparator)
	}
	prefix := names[0]
	for _, n := range names[1:] {
		for !strings.HasPrefix(n, prefix) {
			prefix = prefix[:strings.LastIndexByte(strings.TrimSuffix(prefix, "/"), '/')+1]
		}
	}
	prefix = prefix[:strings.LastIndexByte(prefix, '/')+1]
	out := names[0]
	for _, n := range names[1:] {
		out += report.MemberSeparator + n[len(prefix):]
	}
	return out
}

// fit shortens a name, or fills it up, to n cells.
func fit(g *ui.Glyphs, s string, n int) string { return pad(ui.Name(s, n, g.Ellipsis), n) }

// pad fills s up to n cells.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(n-ui.Width(s), 0))
}

func box(b ui.Box) *ui.Box { return &b }

// has reports whether one of keys is named name.
func has(keys []ui.Key, name string) bool {
	for _, k := range keys {
		for _, n := range k.Keys {
			if n == name {
				return true
			}
		}
	}
	return false
}

// tensorName drops the ending that exporters give the first output of every layer.
func tensorName(name string) string { return strings.TrimSuffix(name, "_output_0") }
