package ui

import "math"

// leastContrast is how far text on the ground of a row stands out from it at least, as WCAG 2.1 asks of text.
const leastContrast = 4.5

// rowGrounds are the grounds that lie under rows of any colours.
var rowGrounds = []Style{CursorGround, RestGround, SelectedGround, MatchGround}

// settle finds the colours of text on the grounds of rows: those of the theme where they can be read there, also in a terminal of 256
// colours, and else nearer to white, or on a light ground to black. Steps of heat stay: they are no text.
func (t *Theme) settle() {
	for _, g := range rowGrounds {
		if t.rgb[g] == 0 {
			continue
		}
		for s := Plain; s < CursorGround; s++ {
			t.on[g][s] = t.fg[s]
			if t.rgb[s] != 0 && s != Ink && (s < Heat1 || s > Heat6) {
				t.on[g][s] = ";38" + parametersOf(readable(t.rgb[s]-1, t.rgb[g]-1))
			}
		}
	}
}

// readable returns a colour with the hue of text that stands out from a ground.
func readable(text, ground int) int {
	end := 0xff
	if luminanceOf(ground) > 0.18 {
		end = 0
	}
	out := text
	for step := 1; step <= 32 && contrastOf(out, ground) < leastContrast; step++ {
		out = 0
		for shift := 16; shift >= 0; shift -= 8 {
			part := text >> shift & 0xff
			out |= (part + (end-part)*step/32) << shift
		}
	}
	return out
}

// contrastOf returns how far two colours are apart, between 1 and 21, as they are or as a terminal of 256 colours has them, whichever is
// least: terminals choose between the nearest of the cube and the nearest grey by measures of their own.
func contrastOf(a, b int) float64 {
	least := contrastRatio(a, b)
	for _, x := range in256(a) {
		for _, y := range in256(b) {
			least = min(least, contrastRatio(x, y))
		}
	}
	return least
}

func contrastRatio(a, b int) float64 {
	p, q := luminanceOf(a), luminanceOf(b)
	return (max(p, q) + 0.05) / (min(p, q) + 0.05)
}

// in256 returns the colour of the cube of 6x6x6 that is nearest, and the nearest grey.
func in256(rgb int) [2]int {
	cube, sum := 0, 0
	for shift := 16; shift >= 0; shift -= 8 {
		part, level := rgb>>shift&0xff, 0
		sum += part
		switch {
		case part >= 115:
			level = 55 + 40*((part-35)/40)
		case part >= 48:
			level = 95
		}
		cube |= level << shift
	}
	grey := 8 + 10*min(max((sum/3-3)/10, 0), 23)
	return [2]int{cube, grey<<16 | grey<<8 | grey}
}

// luminanceOf returns the relative luminance of a colour by WCAG 2.1.
func luminanceOf(rgb int) float64 {
	sum := 0.0
	for i, share := range [3]float64{0.2126, 0.7152, 0.0722} {
		sum += share * linearParts[rgb>>(16-8*i)&0xff]
	}
	return sum
}

// linearParts are the parts of colours as light.
var linearParts = func() (list [256]float64) {
	for i := range list {
		if v := float64(i) / 255; v <= 0.04045 {
			list[i] = v / 12.92
		} else {
			list[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return list
}()
