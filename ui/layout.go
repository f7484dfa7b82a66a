package ui

// Rect is a rectangle of cells.
type Rect struct{ X, Y, W, H int }

// clip returns the part of r inside a canvas of w x h cells.
func (r Rect) clip(w, h int) Rect {
	x0, y0 := min(max(r.X, 0), w), min(max(r.Y, 0), h)
	x1, y1 := min(max(r.X+r.W, x0), w), min(max(r.Y+r.H, y0), h)
	return Rect{x0, y0, x1 - x0, y1 - y0}
}

// Top splits the upper n lines off.
func (r Rect) Top(n int) (top, rest Rect) {
	n = min(max(n, 0), r.H)
	return Rect{r.X, r.Y, r.W, n}, Rect{r.X, r.Y + n, r.W, r.H - n}
}

// Bottom splits the lower n lines off.
func (r Rect) Bottom(n int) (bottom, rest Rect) {
	rest, bottom = r.Top(r.H - min(max(n, 0), r.H))
	return bottom, rest
}

// Left splits the left n columns off.
func (r Rect) Left(n int) (left, rest Rect) {
	n = min(max(n, 0), r.W)
	return Rect{r.X, r.Y, n, r.H}, Rect{r.X + n, r.Y, r.W - n, r.H}
}

// Right splits the right n columns off.
func (r Rect) Right(n int) (right, rest Rect) {
	rest, right = r.Left(r.W - min(max(n, 0), r.W))
	return right, rest
}

// A Box places the views of a screen: one view, or boxes beside or above each
// other that share the space by weight.
//
//	Beside(Pane(0).Share(2), Stack(Pane(1), Pane(2).Lines(9)))
type Box struct {
	view   int
	parts  []Box
	beside bool
	share  int        // part of what is left, 1 if both are zero
	fixed  int        // cells, the title included
	wants  func() int // in place of fixed, where that changes; nil: it does not
}

// Pane is a box for the view with that index in the screen.
func Pane(view int) Box { return Box{view: view} }

// Beside places boxes from left to right.
func Beside(parts ...Box) Box { return Box{parts: parts, beside: true} }

// Stack places boxes from top to bottom.
func Stack(parts ...Box) Box { return Box{parts: parts} }

// Share gives the box n parts of the space that fixed boxes leave; 1 is the default.
func (b Box) Share(n int) Box { b.share = n; return b }

// Lines gives the box n cells, in the direction of the split that it is in.
func (b Box) Lines(n int) Box { b.fixed = n; return b }

// LinesOf gives the box as many cells as n returns, more than 0, each time that the screen is drawn: for a view whose need
// depends on what it shows.
func (b Box) LinesOf(n func() int) Box { b.wants = n; return b }

// cells returns how many cells the box is given; 0 where it shares in what is left.
func (b Box) cells() int {
	if b.wants != nil {
		return b.wants()
	}
	return b.fixed
}

// place writes the rectangle of each view into rects. One column is left free
// between boxes that stand beside each other.
func (b Box) place(r Rect, rects []Rect) {
	if len(b.parts) == 0 {
		if b.view < len(rects) {
			rects[b.view] = r
		}
		return
	}
	gap, total := 0, r.H
	if b.beside {
		gap, total = 1, r.W
	}
	for i, size := range b.sizes(total - gap*(len(b.parts)-1)) {
		var part Rect
		if b.beside {
			part, r = r.Left(size)
			_, r = r.Left(gap)
		} else {
			part, r = r.Top(size)
		}
		b.parts[i].place(part, rects)
	}
}

// sizes divides total cells among the parts.
func (b Box) sizes(total int) []int {
	sizes := make([]int, len(b.parts))
	left, shares := max(total, 0), 0
	for i, p := range b.parts {
		if n := p.cells(); n > 0 {
			// A fixed part never takes more than its fair half from the others.
			sizes[i] = min(n, max(left/2, min(left, 3)))
			left -= sizes[i]
		} else {
			shares += max(p.share, 1)
		}
	}
	if shares == 0 && len(sizes) > 0 {
		sizes[len(sizes)-1] += left
		return sizes
	}
	for i, p := range b.parts {
		if p.cells() > 0 {
			continue
		}
		n := max(p.share, 1)
		sizes[i] = left * n / shares
		left -= sizes[i]
		shares -= n
	}
	return sizes
}
