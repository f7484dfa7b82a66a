package ui

// Style says what a cell means: a foreground and a ground (background), each an
// index into the palette of the theme, and attributes. Combine with |:
//
//	Accent | Bold | On(CursorGround)
type Style uint32

// Foreground meanings. They may also serve as grounds through [On].
const (
	Plain  Style = iota // the terminal's own foreground
	Muted               // secondary text: units, hints, column titles
	Faint               // rules, tracks, inactive borders
	Accent              // focus, keys, the thing to look at
	Good
	Warn
	Bad
	Ink // text on a coloured ground
	F32 // layers and tensors in FP32
	F16 // in FP16
	I8  // in INT8
	OtherType
	Series1
	Series2
	Series3
	Series4
	Series5
	Series6
	Series7
	Series8
	Heat1 // lowest of a sequential scale
	Heat2
	Heat3
	Heat4
	Heat5
	Heat6
	CursorGround         // the cursor's row in the focused pane
	RestGround           // the cursor's row elsewhere
	SelectedGround       // rows linked to the cursor of another pane, marked rows
	MatchGround          // text that matches the filter
	ChipGround           // the active one of several choices
	paletteSize          = iota
	ground               = 8
	indexMask      Style = 0xff
)

// Attributes.
const (
	Bold Style = 1 << (16 + iota)
	Underline
	Reverse
	Italic
	attributes = Bold | Underline | Reverse | Italic
)

// Grounds that are used often.
const (
	Cursor   = CursorGround << ground
	Rest     = RestGround << ground
	Selected = SelectedGround << ground
	Match    = MatchGround << ground
	Chip     = ChipGround<<ground | Ink | Bold
)

// On makes the foreground of s a ground: On(Series1) fills with that colour.
func On(s Style) Style { return (s & indexMask) << ground }

// Series returns the foreground of the i-th of an unbounded number of series;
// after eight they repeat.
func Series(i int) Style {
	const n = Series8 - Series1 + 1
	return Series1 + Style(((i%int(n))+int(n))%int(n))
}

// Heat returns the step of the sequential scale for v in [0, 1].
func Heat(v float64) Style {
	const n = Heat6 - Heat1 + 1
	if !(v > 0) { // also NaN
		return Heat1
	}
	return Heat1 + min(Style(v*float64(n)), n-1)
}

// over lays top on s: a ground of top replaces that of s, attributes add up,
// the foreground stays unless top has one.
func (s Style) over(top Style) Style {
	out := s | top&attributes
	if fg := top & indexMask; fg != Plain {
		out = out&^indexMask | fg
	}
	if bg := top & (indexMask << ground); bg != 0 {
		out = out&^(indexMask<<ground) | bg
	}
	return out
}
