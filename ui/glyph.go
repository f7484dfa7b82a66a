package ui

import "strings"

// Glyphs are the marks that widgets draw with: one set for terminals that show
// Unicode blocks and lines, one for those that show ASCII only.
type Glyphs struct {
	Rule, Wall            rune // between panes
	PlusMinus             string
	Focus, Point          rune // focused pane, current item
	Up, Down, Left, Right rune // sort direction, scroll hints
	Track, Thumb          rune // scroll bar
	Good, Warn, Bad       rune // never colour alone
	Best                  rune // before a number, of which it is no sign
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
	Lanes                 [16]rune // lines of a graph, by the sides to which they go: 1 up, 2 down, 4 left, 8 right
	ASCII                 bool
}

// UnicodeGlyphs uses box drawing, block elements and geometric shapes.
func UnicodeGlyphs() *Glyphs {
	return &Glyphs{
		Rule: '─', Wall: '│', PlusMinus: "±", Focus: '▍', Point: '▸',
		Up: '▲', Down: '▼', Left: '◂', Right: '▸', Track: '│', Thumb: '┃',
		Good: '✓', Best: '✓', Warn: '!', Bad: '✗', Dot: '·', Ellipsis: '…', Record: '●', Pause: '‖',
		Mark: '┊', Median: '│', Tail: '╵', Empty: '·',
		Fills:   []rune("█▓▒░▚▞▤▥"),
		Columns: []rune(" ▁▂▃▄▅▆▇█"),
		Rows:    []rune(" ▏▎▍▌▋▊▉█"),
		Branch:  "├─", Last: "└─", Pass: "│ ",
		Corners: [4]rune{'╭', '╮', '╰', '╯'},
		Lanes:   [16]rune([]rune(" │││─╯╮┤─╰╭├─┴┬┼")),
	}
}

// ASCIIGlyphs uses nothing beyond ASCII.
func ASCIIGlyphs() *Glyphs {
	return &Glyphs{
		Rule: '-', Wall: '|', PlusMinus: "+-", Focus: '>', Point: '>',
		Up: '^', Down: 'v', Left: '<', Right: '>', Track: ':', Thumb: '#',
		Good: '+', Best: '*', Warn: '!', Bad: 'x', Dot: '.', Ellipsis: '~', Record: '*', Pause: '=',
		Mark: '|', Median: '|', Tail: '!', Empty: '.',
		Fills:   []rune("#%+=@:&/"), // no letters, beside which names stand
		Columns: []rune(" ..:-=+*#"),
		Rows:    []rune("     ===="),
		Branch:  "|-", Last: "`-", Pass: "| ",
		Corners: [4]rune{'+', '+', '+', '+'},
		Lanes:   [16]rune([]rune(" |||-'.+-`.+-+++")),
		ASCII:   true,
	}
}

// Fill returns the texture of the i-th series.
func (g *Glyphs) Fill(i int) rune {
	n := len(g.Fills)
	return g.Fills[((i%n)+n)%n]
}

// ASCIIText returns what replaces the glyphs of text by those of [ASCIIGlyphs]; letters of other scripts, which names may
// have, stay.
func ASCIIText() *strings.Replacer {
	from, to := UnicodeGlyphs(), ASCIIGlyphs()
	pairs := []string{"µ", "u", "×", "x", "°", "deg ", "→", "->", "←", "<-"}
	add := func(a, b rune) { pairs = append(pairs, string(a), string(b)) }
	for i, r := range from.Fills {
		add(r, to.Fills[i])
	}
	for _, g := range [][2]rune{
		{from.Rule, to.Rule}, {from.Wall, to.Wall}, {from.Focus, to.Focus}, {from.Point, to.Point}, {from.Up, to.Up}, {from.Down, to.Down},
		{from.Left, to.Left}, {from.Thumb, to.Thumb}, {from.Good, to.Good}, {from.Bad, to.Bad}, {from.Dot, to.Dot}, {from.Ellipsis, to.Ellipsis},
		{from.Record, to.Record}, {from.Pause, to.Pause}, {from.Mark, to.Mark}, {from.Tail, to.Tail},
	} {
		add(g[0], g[1])
	}
	for i, r := range from.Corners {
		add(r, to.Corners[i])
	}
	for _, s := range [][2]string{{from.Branch, to.Branch}, {from.Last, to.Last}} {
		pairs = append(pairs, s[0], s[1])
	}
	for i, r := range from.Lanes[1:] {
		add(r, to.Lanes[i+1])
	}
	for i, r := range from.Columns[1:] {
		add(r, to.Columns[i+1])
	}
	for i, r := range from.Rows[1:] {
		add(r, to.Rows[i+1])
	}
	return strings.NewReplacer(pairs...)
}
