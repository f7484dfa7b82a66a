package pane

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

// Need is what a key's work needs. Whether that is there is decided in one place, the [Desk]: keys that lack something
// are in no footer and no help, and pressing one tells why.
type Need int

// The needs.
const (
	NeedsModel  Need = iota // to change what is built from the model, or to measure it
	NeedsRun                // to run it anew
	NeedsDevice             // to measure: estimates do not get better
	NeedsChoice             // of the precision of layers: the model must leave one
	NeedsRecorder
	NeedsPast
	NeedsFuture
	NeedsPrecision    // another precision to go to
	NeedsCalibrator   // another calibrator to go to
	NeedsQuantization // a model that is quantised here
	NeedsPercentile   // the calibrator with that parameter
	NeedsChanged      // a model whose files are not any more what was read
	NeedsOwnRanges    // a model that brings quantisation of its own, be it dropped
	NeedsJob          // something that runs and can be stopped, or that can be left
)

// Desk is what a pane may ask of the workbench. A pane that changes nothing has none.
type Desk interface {
	// Want returns the configuration that is asked for; that of snapshots follows.
	Want() config.Config
	// Change asks for the configuration that edit makes of that one.
	Change(edit func(*config.Config)) tea.Cmd
	// Lacks says what the state at hand lacks of what a key needs; "" where the key works.
	Lacks(Need) string
}

// Input is what a pane draws: the reports of the newest snapshot, in the look of the program.
type Input struct {
	Look    *ui.Look
	Snap    *report.Snapshot // never nil
	part    report.Parts     // the reports that the pane shows
	Untimed string           // what its times are where nothing is measured
}

// NewInput returns what a pane draws before the first snapshot; part is the reports that the pane shows.
func NewInput(look *ui.Look, part report.Parts) Input {
	return Input{Look: look, Snap: &report.Snapshot{}, part: part}
}

// Take keeps a snapshot; it reports whether the message was one.
func (p *Input) Take(msg tea.Msg) bool {
	snap, ok := msg.(*report.Snapshot)
	if ok {
		p.Snap = snap
	}
	return ok
}

// Untried is said of what was quantised to the nearest integers, before it was tried what is better.
const Untried = "nearest, not yet tried"

// Note returns text, and before it that the pane is stale if it is, and that its times are estimates if they are.
func (p *Input) Note(text string) (string, ui.Style) {
	var notes []string
	switch of := p.Snap.Stale & p.part & p.Snap.Made(); {
	case of&^p.Snap.Preview != 0:
		notes = append(notes, "stale")
	case of != 0:
		notes = append(notes, Untried)
	}
	if p.Snap.Device.Estimated && p.part.Has(report.PartTimings|report.PartOverview) {
		notes = append(notes, "estimated")
	}
	if p.Snap.Device.Estimated && p.part.Has(report.PartTactics) {
		notes = append(notes, cmp.Or(p.Untimed, "untimed"))
	}
	if len(notes) == 0 {
		return text, ui.Muted
	}
	if text != "" {
		notes = append(notes, text)
	}
	return strings.Join(notes, " "+string(p.Look.Glyphs.Dot)+" "), ui.Warn
}

// Live reports whether the times of a snapshot are being measured now.
func Live(s *report.Snapshot) bool {
	t := s.Timings
	return t != nil && t.Live && s.Replay == "" && !s.Stopped && !s.Stale.Has(report.PartTimings)
}

// CutShort returns after how many runs the measurement of the times was stopped, 0 where it was not.
func CutShort(s *report.Snapshot) int {
	if t := s.Timings; t != nil && t.Live && s.Stopped && !s.Stale.Has(report.PartTimings) {
		return t.Samples
	}
	return 0
}

// Wait draws what is shown in place of a report that has not been made yet: what is awaited and what is being done.
func (p *Input) Wait(c *ui.Canvas, what string) {
	if c.W < 4 || c.H < 1 {
		return
	}
	y := 0
	if c.H > 3 {
		y = 1
	}
	switch b := p.Snap.Busy; {
	case p.Snap.Err != "":
		c.Fit(1, y, c.W-2, ui.Bad, string(c.Glyphs().Bad)+" "+what+": stopped by an error")
		for i, line := range ui.Wrap(p.Snap.Err, c.W-4) {
			c.Text(3, y+1+i, ui.Plain, line)
		}
	case p.Snap.Viewed() != "":
		c.Fit(1, y, c.W-2, ui.Muted, "no "+what+": not in the files that were opened")
		for i, line := range ui.Wrap(p.Snap.Viewed()+" has none. Open the ONNX model that the engine was built from, and it is made here.", c.W-4) {
			c.Text(3, y+1+i, ui.Plain, line)
		}
	case p.Snap.Refused() && p.part&^(report.PartModel|report.PartPasses) != 0:
		c.Fit(1, y, c.W-2, ui.Muted, "no "+what+": the model is not runnable")
		WhyRefused(c, y+1, ui.Plain, p.Snap.Model.NotRunnable)
	case b != nil && p.Snap.Replay != "":
		c.Fit(1, y, c.W-2, ui.Muted, what+": not available yet when this was recorded, during")
		c.Fit(1, y+1, c.W-2, ui.Plain, b.String())
	case b != nil:
		c.Fit(1, y, c.W-2, ui.Muted, what+" will follow")
		c.Fit(1, y+1, c.W-2, ui.Plain, b.String())
	case p.Snap.Stopped:
		c.Fit(1, y, c.W-2, ui.Muted, what+": stopped before it was available")
		c.Fit(1, y+1, c.W-2, ui.Plain, p.Look.Keys("press {r} to continue"))
	case p.Snap.Seq == 0:
		c.Fit(1, y, c.W-2, ui.Muted, "opening the model")
	case p.Snap.Model != nil && p.Snap.Model.Stripped && p.part.Has(report.PartAccuracy|report.PartCalibration):
		c.Fit(1, y, c.W-2, ui.Muted, "no "+what+": the engine does not hold its source model")
		for i, line := range ui.Wrap("Open that model instead, or build the engine again with its source kept.", c.W-4) {
			c.Text(3, y+1+i, ui.Plain, line)
		}
	default:
		c.Fit(1, y, c.W-2, ui.Muted, "no "+what+" for this model")
	}
}

// Unmeasured draws what a pane shows that is measured on request and was not: what it is, and below that what is being done, why
// it cannot be had, or how to get it, where {x} stands for keys.
func (p *Input) Unmeasured(c *ui.Canvas, d Desk, need Need, what, how string) {
	text := p.Look.Keys(how)
	if b := p.Snap.Busy; b != nil && p.Snap.Replay == "" {
		text = b.String()
	} else if lack := d.Lacks(need); lack != "" {
		text = "not measured: " + lack
	}
	y := 0
	for _, line := range ui.Wrap(what, c.W-2) {
		c.Fit(1, y, c.W-2, ui.Muted, line)
		y++
	}
	for _, line := range ui.Wrap(text, c.W-2) {
		c.Fit(1, y, c.W-2, ui.Plain, line)
		y++
	}
}

// WhyRefused draws a text on why the model cannot be run, and where there is more to see; it returns the line behind that.
func WhyRefused(c *ui.Canvas, y int, style ui.Style, text string) int {
	for _, line := range ui.Wrap(text, c.W-2) {
		c.Fit(1, y, c.W-2, style, line)
		y++
	}
	c.Fit(1, y, c.W-2, ui.Muted, "screen 2 marks the layers with "+string(c.Glyphs().Warn))
	return y + 1
}

// PrecisionStyle returns the colour of a number format.
func PrecisionStyle(precision string) ui.Style {
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

// Label names the configuration of a snapshot.
func Label(s *report.Snapshot) string { return s.Config.Label(OwnRanges(s)) }

// OwnRanges reports whether the model brings its own quantisation, so that calibrators do not apply.
func OwnRanges(s *report.Snapshot) bool {
	return s.Model.Quantized()
}

// IsKey reports whether a message is the press of a key.
func IsKey(msg tea.Msg, name string) bool {
	k, ok := msg.(tea.KeyPressMsg)
	return ok && k.String() == name
}

// Box returns a layout for one of the widths of a screen that may have none.
func Box(b ui.Box) *ui.Box { return &b }

// Has reports whether one of keys is named name.
func Has(keys []ui.Key, name string) bool {
	for _, k := range keys {
		for _, n := range k.Keys {
			if n == name {
				return true
			}
		}
	}
	return false
}

// When returns the key with what the state at hand lacks for it.
func When(d Desk, n Need, k ui.Key) ui.Key {
	k.Off = d.Lacks(n)
	return k
}
