package work

// Taper is pieces of work in units that get smaller: each is a worker's share of half of what is left. Whoever the system holds up
// is waited for as long as one piece takes, and few units are short.
type Taper struct{ Pieces, Workers int }

// next returns the pieces of a unit when so many are left.
func (t Taper) next(left int) int { return min(left, max(1, left/(2*max(1, t.Workers)))) }

// Units returns how many units there are.
func (t Taper) Units() int {
	n := 0
	for left := t.Pieces; left > 0; left -= t.next(left) {
		n++
	}
	return n
}

// Unit returns the first piece of a unit, and how many it has.
func (t Taper) Unit(u int) (first, pieces int) {
	left := t.Pieces
	for range u {
		left -= t.next(left)
	}
	return t.Pieces - left, t.next(left)
}
