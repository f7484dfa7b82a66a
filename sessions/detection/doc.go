// Package detection is what detectors of objects are judged by: boxes that a network finds in an image, in the forms in which detectors
// give them ([Form]), and how they compare with the boxes that are there ([Precision]).
package detection

// Box is an upright rectangle around an object, in pixels of the image that the network reads.
type Box struct {
	X0, Y0, X1, Y1 float64
	Class          int
	// Category is the class as the file of labels numbers it, which some networks answer with; otherwise Class.
	Category int
	// Crowd marks many objects in one: what is found in it is neither right nor wrong.
	Crowd bool
}

// Found is a box that a network found.
type Found struct {
	Box
	Score float64
}

// area returns that of a box, 0 where it has none.
func (b *Box) area() float64 { return max(0, b.X1-b.X0) * max(0, b.Y1-b.Y0) }

// common returns the area that two boxes have in common.
func (b *Box) common(o *Box) float64 {
	return max(0, min(b.X1, o.X1)-max(b.X0, o.X0)) * max(0, min(b.Y1, o.Y1)-max(b.Y0, o.Y0))
}

// overlap returns the share of two boxes' union that they have in common; beside a crowd, of b alone.
func (b *Box) overlap(o *Box) float64 {
	both := b.common(o)
	all := b.area()
	if !o.Crowd {
		all += o.area() - both
	}
	if !(all > 0) {
		return 0
	}
	return both / all
}
