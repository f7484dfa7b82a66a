package ui

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// linear returns a colour that a theme has, in linear RGB.
func linear(t *testing.T, sgr string) (rgb [3]float64) {
	t.Helper()
	part := strings.Split(sgr, ";")
	for i := range rgb {
		n, err := strconv.Atoi(part[len(part)-3+i])
		if err != nil {
			t.Fatal(sgr)
		}
		if rgb[i] = float64(n) / 255; rgb[i] <= 0.04045 {
			rgb[i] /= 12.92
		} else {
			rgb[i] = math.Pow((rgb[i]+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

// luminance is that of WCAG 2.1, of a colour that a theme has.
func luminance(t *testing.T, sgr string) float64 {
	t.Helper()
	rgb := linear(t, sgr)
	return 0.2126*rgb[0] + 0.7152*rgb[1] + 0.0722*rgb[2]
}

// TestContrast: text stands out by as much as its theme says: from black, from white, and from the cursor's row.
func TestContrast(t *testing.T) {
	for _, c := range []struct {
		theme  *Theme
		ground float64 // of the terminal
		least  float64
		series float64
	}{{DarkTheme(), 0.005, 4.5, 4.4}, {LightTheme(), 1, 4.5, 3}, {ContrastTheme(), 0, 7, 4.5}, {ColourBlindTheme(), 0.005, 4.5, 4.4}, {ColourBlindLightTheme(), 1, 4.5, 2.9}} {
		for _, s := range []Style{Muted, Accent, Good, Warn, Bad, F32, F16, I8, OtherType} {
			text := luminance(t, c.theme.fg[s])
			ratio := (max(text, c.ground) + 0.05) / (min(text, c.ground) + 0.05)
			if ratio < c.least {
				t.Errorf("%s: style %d is at %.1f from the ground, want %.1f", c.theme.Name, s, ratio, c.least)
			}
		}
		for s := Series1; s <= Series8; s++ { // of blocks, and of the few words that name them
			if text := luminance(t, c.theme.fg[s]); (max(text, c.ground)+0.05)/(min(text, c.ground)+0.05) < c.series {
				t.Errorf("%s: series %d is less than %.1f from the ground", c.theme.Name, s-Series1+1, c.series)
			}
		}
		if text, ground := luminance(t, c.theme.fg[Accent]), luminance(t, c.theme.bg[CursorGround]); (max(text, ground)+0.05)/(min(text, ground)+0.05) < 4.5 {
			t.Errorf("%s: the accent is lost in the cursor's row", c.theme.Name)
		}
	}
}

// TestThemeNames: the names are those of the themes, in their order.
func TestThemeNames(t *testing.T) {
	var names []string
	for _, theme := range Themes() {
		names = append(names, theme.Name)
	}
	if !slices.Equal(names, ThemeNames()) {
		t.Errorf("the themes are %q, their names %q", names, ThemeNames())
	}
}

// TestGroundOfPlain: what has no ground of its own is on the terminal's, also where plain text has a colour.
func TestGroundOfPlain(t *testing.T) {
	own, err := ReadTheme("mine", []byte(`{"base": "dark", "colours": {"plain": "#ffffff"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range append(Themes(), MonoTheme(), own) {
		if theme.bg[Plain] != "" {
			t.Errorf("%s: %q", theme.Name, theme.bg[Plain])
		}
		if theme.Name == "mine" && theme.fg[Plain] != ";38;2;255;255;255" {
			t.Errorf("%s: plain text is %q", theme.Name, theme.fg[Plain])
		}
	}
}

// TestReadTheme reads colours over a base, and says what is wrong with others.
func TestReadTheme(t *testing.T) {
	own, err := ReadTheme("mine", []byte(`{"base": "light", "colours": {"accent": "#ff8800", "cursor": "#402000"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if own.fg[Accent] != ";38;2;255;136;0" || own.bg[CursorGround] != ";48;2;64;32;0" || own.fg[Good] != LightTheme().fg[Good] {
		t.Errorf("%q %q", own.fg[Accent], own.bg[CursorGround])
	}
	look := NewLook(Options{Own: own, Theme: "dark"})
	names := []string{look.Theme.Name}
	for range 6 {
		look.nextTheme()
		names = append(names, look.Theme.Name)
	}
	if got := strings.Join(names, " "); got != "mine dark light contrast colour-blind colour-blind-light mine" {
		t.Error(got)
	}
	for text, want := range map[string]string{
		`{"colours": {"acent": "#ff8800"}}`: `colour "acent": want one of accent`,
		`{"colours": {"accent": "orange"}}`: `accent "orange": want #rrggbb`,
		`{"colours": {"accent": "#ff88"}}`:  `want #rrggbb`,
		`{"base": "solarized"}`:             `base "solarized": want one of dark, light, contrast`,
		`{"colors": {"accent": "#ff8800"}}`: "colors",
		`[`:                                 "theme mine:",
	} {
		if _, err := ReadTheme("mine", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestRowContrast: whatever text stands on the ground of a row can be read there, with all colours and with 256, in every theme and in
// those of persons.
func TestRowContrast(t *testing.T) {
	own, err := ReadTheme("mine", []byte(`{"base": "dark", "colours": {"cursor": "#405060", "bad": "#803030", "plain": "#c0c0c0"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range append(Themes(), own) {
		for _, ground := range []Style{Cursor, Rest, Selected, Match} {
			for s := Plain; s < Heat1; s++ {
				if s == Ink || theme.fg[s] == "" {
					continue
				}
				sgr := strings.TrimSuffix(string(theme.appendSGR(nil, s|ground)), "m")
				text, under, ok := strings.Cut(sgr, ";48;2;")
				if !ok {
					t.Fatalf("%s: %q", theme.Name, sgr)
				}
				for _, colours := range []string{"all", "256"} {
					a, b := coloursOf(t, text, colours), coloursOf(t, under, colours)
					if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 4.5 {
						t.Errorf("%s, %s colours: style %d is at %.1f from ground %d", theme.Name, colours, s, ratio, ground>>8)
					}
				}
			}
		}
	}
	if sgr := string(DarkTheme().appendSGR(nil, Heat1|Cursor)); !strings.Contains(sgr, ";44;66;114;") && !strings.Contains(sgr, "38;2;44;66;114") {
		t.Errorf("a step of heat has another colour under the cursor: %q", sgr)
	}
}

// coloursOf returns the luminance of a colour as a terminal has it.
func coloursOf(t *testing.T, sgr, colours string) float64 {
	t.Helper()
	if colours == "all" {
		return luminance(t, sgr)
	}
	part := strings.Split(sgr, ";")
	var rgb [3]uint8
	for i := range rgb {
		n, err := strconv.Atoi(part[len(part)-3+i])
		if err != nil {
			t.Fatal(sgr)
		}
		rgb[i] = uint8(n)
	}
	r, g, b, _ := ansi.Convert256(color.RGBA{rgb[0], rgb[1], rgb[2], 255}).RGBA()
	return luminance(t, fmt.Sprintf("%d;%d;%d", r>>8, g>>8, b>>8))
}
