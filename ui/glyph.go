package ui

// Glyphs are the marks that widgets draw with: one set for terminals that show
// Unicode blocks and lines, one for those that show ASCII only.
type Glyphs struct {
	Rule, Wall            rune // between panes
	Focus, Point          rune // focused pane, current item
	Up, Down, Left, Right rune // sort direction, scroll hints
	Track, Thumb          rune // scroll bar
	Good, Warn, Bad       rune // never colour alone
	Dot, Ellipsis         rune
	Record, Pause         rune
	Mark                  rune   // threshold or cursor line
	Median, Tail          rune   // marks on a timing bar
	Empty                 rune   // the empty part of a bar
	Fills                 []rune // textures that tell series apart without colour
	Columns               []rune // rising eighths: index 0 is empty, the last is full
	Rows                  []rune // growing eighths from the left
	Branch, Last, Pass    string // tree prefixes: item, last item, continued line
	Corners               [4]rune
	ASCII                 bool
}

// UnicodeGlyphs uses box drawing, block elements and geometric shapes.
func UnicodeGlyphs() *Glyphs {
	return &Glyphs{
		Rule: '─', Wall: '│', Focus: '▍', Point: '▸',
		Up: '▲', Down: '▼', Left: '◂', Right: '▸', Track: '│', Thumb: '┃',
		Good: '✓', Warn: '!', Bad: '✗', Dot: '·', Ellipsis: '…', Record: '●', Pause: '‖',
		Mark: '┊', Median: '│', Tail: '╵', Empty: '·',
		Fills:   []rune("█▓▒░▚▞▤▥"),
		Columns: []rune(" ▁▂▃▄▅▆▇█"),
		Rows:    []rune(" ▏▎▍▌▋▊▉█"),
		Branch:  "├─", Last: "└─", Pass: "│ ",
		Corners: [4]rune{'╭', '╮', '╰', '╯'},
	}
}

// ASCIIGlyphs uses nothing beyond ASCII.
func ASCIIGlyphs() *Glyphs {
	return &Glyphs{
		Rule: '-', Wall: '|', Focus: '>', Point: '>',
		Up: '^', Down: 'v', Left: '<', Right: '>', Track: ':', Thumb: '#',
		Good: '+', Warn: '!', Bad: 'x', Dot: '.', Ellipsis: '~', Record: '*', Pause: '=',
		Mark: '|', Median: '|', Tail: '!', Empty: '.',
		Fills:   []rune("#%+=oxs/"),
		Columns: []rune(" ..:-=+*#"),
		Rows:    []rune("     ===="),
		Branch:  "|-", Last: "`-", Pass: "| ",
		Corners: [4]rune{'+', '+', '+', '+'},
		ASCII:   true,
	}
}

// Fill returns the texture of the i-th series.
func (g *Glyphs) Fill(i int) rune {
	n := len(g.Fills)
	return g.Fills[((i%n)+n)%n]
}
