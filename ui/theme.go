package ui

import "strconv"

// A Theme gives each meaning its colours. The hues are near those of Okabe and
// Ito's palette ("Color Universal Design", 2008), and sequential scales are
// cividis, which stay apart for people with deuteranopia or protanopia; that all
// meanings do, [ColourBlindTheme] and [ColourBlindLightTheme] make sure of.
type Theme struct {
	Name  string
	light bool                // for dark text on a light terminal
	fg    [paletteSize]string // SGR parameters, each with a leading semicolon
	bg    [paletteSize]string
	rgb   [paletteSize]int                 // plus one; 0: the terminal's own
	on    [paletteSize][paletteSize]string // by ground, what fg is there; "" where it is as elsewhere
}

// Mono reports whether the theme has no colours.
func (t *Theme) Mono() bool { return t.Name == "mono" }

// DarkTheme is for light text on a dark terminal.
func DarkTheme() *Theme {
	return colourTheme("dark", [paletteSize]int{
		Plain: -1, Muted: 0x8b949e, Faint: 0x4a525c, Accent: 0x6cb6ff,
		Good: 0x3fc1a0, Warn: 0xe6a83c, Bad: 0xff7b5a, Ink: 0x0d1117,
		F32: 0x56b4e9, F16: 0xe8d75a, I8: 0xd98ab3, OtherType: 0x9aa5b1,
		Series1: 0x56b4e9, Series2: 0xe69f00, Series3: 0x2fb58f, Series4: 0xcc79a7,
		Series5: 0xd9cf4a, Series6: 0x8c9eff, Series7: 0xe8703a, Series8: 0x9aa5b1,
		Heat1: 0x2c4272, Heat2: 0x575d6d, Heat3: 0x7d7c78, Heat4: 0xa59c74, Heat5: 0xd2c060, Heat6: 0xfee838,
		CursorGround: 0x1c2f54, RestGround: 0x2a2b2f, SelectedGround: 0x3a3320, MatchGround: 0x6b5200, ChipGround: 0x6cb6ff,
	})
}

// LightTheme is for dark text on a light terminal.
func LightTheme() *Theme {
	return lightTheme("light", [paletteSize]int{
		Plain: -1, Muted: 0x59636e, Faint: 0xb6bec7, Accent: 0x0550ae,
		Good: 0x00664d, Warn: 0x8a5a00, Bad: 0xb83200, Ink: 0xffffff,
		F32: 0x0072b2, F16: 0x857000, I8: 0xa0457f, OtherType: 0x59636e,
		Series1: 0x0072b2, Series2: 0xb27000, Series3: 0x007a5a, Series4: 0xa8497f,
		Series5: 0x7a7000, Series6: 0x4b53bc, Series7: 0xc04a00, Series8: 0x66707a,
		Heat1: 0xd9cf8a, Heat2: 0xbfae6a, Heat3: 0x9a9275, Heat4: 0x6f7378, Heat5: 0x44537a, Heat6: 0x00224e,
		CursorGround: 0xcfe3fb, RestGround: 0xe9edf2, SelectedGround: 0xf6e8c4, MatchGround: 0xffdf7a, ChipGround: 0x0550ae,
	})
}

// ContrastTheme is for a dark terminal and eyes that need strong contrasts: all text is at 7 to 1 from black.
func ContrastTheme() *Theme {
	return colourTheme("contrast", [paletteSize]int{
		Plain: 0xffffff, Muted: 0xd5dbe3, Faint: 0xa9b2bd, Accent: 0x7fd4ff,
		Good: 0x5df0c0, Warn: 0xffd060, Bad: 0xff9f85, Ink: 0x000000,
		F32: 0x6fcbff, F16: 0xfff06a, I8: 0xffa6d6, OtherType: 0xd5dbe3,
		Series1: 0x6fcbff, Series2: 0xffb52e, Series3: 0x4fe3b4, Series4: 0xff9fd0,
		Series5: 0xfff06a, Series6: 0xb3beff, Series7: 0xff9455, Series8: 0xd5dbe3,
		Heat1: 0x2c4272, Heat2: 0x575d6d, Heat3: 0x7d7c78, Heat4: 0xa59c74, Heat5: 0xd2c060, Heat6: 0xfee838,
		CursorGround: 0x003f8f, RestGround: 0x333a44, SelectedGround: 0x54400a, MatchGround: 0x7a5c00, ChipGround: 0x7fd4ff,
	})
}

// themes are those that have colours, in the order in which T goes through them. To make one takes about a millisecond.
var themes = []struct {
	name string
	make func() *Theme
}{
	{"dark", DarkTheme}, {"light", LightTheme}, {"contrast", ContrastTheme},
	{"colour-blind", ColourBlindTheme}, {"colour-blind-light", ColourBlindLightTheme},
}

// Themes returns the themes that have colours, in the order in which T goes through them.
func Themes() []*Theme {
	list := make([]*Theme, len(themes))
	for i, t := range themes {
		list[i] = t.make()
	}
	return list
}

// ThemeNames returns the names of [Themes], without making them.
func ThemeNames() []string {
	list := make([]string, len(themes))
	for i, t := range themes {
		list[i] = t.name
	}
	return list
}

// themeNamed returns the theme of a name; nil where there is none.
func themeNamed(name string) *Theme {
	for _, t := range themes {
		if t.name == name {
			return t.make()
		}
	}
	return nil
}

// MonoTheme has no colours: reverse, bold and underline only (NO_COLOR).
func MonoTheme() *Theme {
	t := &Theme{Name: "mono"}
	for _, s := range []Style{Accent, Warn, Bad} {
		t.fg[s] = ";1"
	}
	for s := Muted; s < paletteSize; s++ {
		t.bg[s] = ";7"
	}
	t.bg[RestGround] = ";1"
	t.bg[SelectedGround] = ";4"
	t.bg[MatchGround] = ";4;1"
	return t
}

func lightTheme(name string, rgb [paletteSize]int) *Theme {
	t := colourTheme(name, rgb)
	t.light = true
	return t
}

func colourTheme(name string, rgb [paletteSize]int) *Theme {
	t := &Theme{Name: name}
	for i, v := range rgb {
		if v >= 0 {
			t.paint(Style(i), v)
		}
	}
	t.settle()
	return t
}

// paint gives a meaning its colour.
func (t *Theme) paint(s Style, rgb int) {
	parameters := parametersOf(rgb)
	t.fg[s], t.rgb[s] = ";38"+parameters, rgb+1
	if s != Plain { // as a ground it is that of the terminal
		t.bg[s] = ";48" + parameters
	}
}

// parametersOf returns a colour as SGR parameters.
func parametersOf(rgb int) string {
	return ";2;" + strconv.Itoa(rgb>>16) + ";" + strconv.Itoa(rgb>>8&255) + ";" + strconv.Itoa(rgb&255)
}

// appendSGR appends the escape sequence that selects s and nothing else.
func (t *Theme) appendSGR(b []byte, s Style) []byte {
	b = append(b, "\x1b["...)
	start := len(b)
	if s&Bold != 0 {
		b = append(b, ";1"...)
	}
	if s&Italic != 0 {
		b = append(b, ";3"...)
	}
	if s&Underline != 0 {
		b = append(b, ";4"...)
	}
	if s&Reverse != 0 {
		b = append(b, ";7"...)
	}
	text := t.fg[s&indexMask]
	if on := t.on[s>>ground&indexMask][s&indexMask]; on != "" {
		text = on
	}
	b = append(b, text...)
	b = append(b, t.bg[s>>ground&indexMask]...)
	if len(b) > start {
		b = append(b, 0)
		copy(b[start+1:], b[start:])
		b[start] = '0'
	}
	return append(b, 'm')
}
