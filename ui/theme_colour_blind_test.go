package ui

import (
	"fmt"
	"math"
	"testing"
)

// deficiencies are what eyes make of colours, by Machado, Oliveira and Fernandes ("A Physiologically-based Model for Simulation
// of Color Vision Deficiency", 2009, severity 1): matrices on linear RGB.
var deficiencies = map[string][3][3]float64{
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func times(m [3][3]float64, v [3]float64) (out [3]float64) {
	for i := range m {
		for k := range v {
			out[i] += m[i][k] * v[k]
		}
	}
	return out
}

// lab returns a colour of linear RGB in CIE L*a*b*, D65.
func lab(rgb [3]float64) [3]float64 {
	for i := range rgb {
		rgb[i] = min(max(rgb[i], 0), 1)
	}
	xyz := times([3][3]float64{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}, rgb)
	for i, white := range []float64{0.95047, 1, 1.08883} {
		if xyz[i] /= white; xyz[i] > 216.0/24389 {
			xyz[i] = math.Cbrt(xyz[i])
		} else {
			xyz[i] = (24389.0/27*xyz[i] + 16) / 116
		}
	}
	return [3]float64{116*xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])}
}

// TestSeriesContrast: what charts are drawn in stands out from the ground by 3 to 1 at least, as WCAG 2.1 asks of graphics, in a terminal
// of 256 colours, too.
func TestSeriesContrast(t *testing.T) {
	for _, theme := range Themes() {
		var ground int
		sheet, _ := theme.sheet()
		if _, err := fmt.Sscanf(sheet, "#%x", &ground); err != nil {
			t.Fatal(err)
		}
		for _, s := range []Style{Series1, Series2, Series3, Series4, Series5, Series6, Series7, Series8, F32, F16, I8, OtherType, Good, Warn, Bad} {
			if got := contrastOf(theme.rgb[s]-1, ground); got < 3 {
				t.Errorf("%s: style %d stands out from %s by %.2f", theme.Name, s, sheet, got)
			}
		}
	}
}

// TestColourBlind: to eyes with any of the deficiencies, colours of different meaning that stand beside each other are as far
// apart as the groups ask for, in CIE 1976 units, of which 2.3 can just be told apart side by side.
func TestColourBlind(t *testing.T) {
	for _, theme := range []*Theme{ColourBlindTheme(), ColourBlindLightTheme()} {
		for _, group := range []struct {
			styles []Style
			least  float64
		}{
			{[]Style{Accent, Good, Warn, Bad}, 17},
			{[]Style{F32, F16, I8, OtherType}, 20},
			{[]Style{Series1, Series2, Series3, Series4, Series5, Series6, Series7, Series8}, 10},
			{[]Style{Heat1, Heat3, Heat5}, 20},
			{[]Style{Heat2, Heat4, Heat6}, 20},
		} {
			for name, eye := range deficiencies {
				for i, a := range group.styles {
					for _, b := range group.styles[:i] {
						p, q := lab(times(eye, linear(t, theme.fg[a]))), lab(times(eye, linear(t, theme.fg[b])))
						if d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); d < group.least {
							t.Errorf("%s, %s: styles %d and %d are %.1f apart, want %.0f", theme.Name, name, b, a, d, group.least)
						}
					}
				}
			}
		}
	}
}
