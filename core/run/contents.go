package run

// Contents are the bytes of an engine file by what they are for. Weights that a backend packs for its kernels are not in
// it: that is done when the engine is loaded.
type Contents struct {
	Source      int // constants of the source network as it was imported, to look at it, compare with it and build it anew
	Plans       int // constants of the plans that the source does not have so: folded, transposed, in 16 or 8 bits
	Code        int // kernels compiled for the target
	Description int // the networks, the plans with every tactic that was considered, the builder's report, header and padding
}

// Bytes returns the size of the file.
func (c Contents) Bytes() int { return c.Source + c.Plans + c.Code + c.Description }

// tally counts constants, each for the first that has it.
type tally struct {
	Contents
	counted map[int]bool // by number
}

func newTally() *tally { return &tally{counted: map[int]bool{}} }

// add counts constant i of so many bytes for one of the parts.
func (t *tally) add(part *int, i, bytes int) {
	if !t.counted[i] {
		t.counted[i] = true
		*part += bytes
	}
}

// of returns the contents of a file of so many bytes.
func (t *tally) of(bytes int) Contents {
	c := t.Contents
	c.Description = bytes - c.Source - c.Plans - c.Code
	return c
}
