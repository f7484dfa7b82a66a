package pass

import (
	"slices"

	"github.com/trtui/trtui/core/graph"
)

// Exchange makes the tensors of now stand for those of old, results of the candidate's layers, removes those of these that nothing needs
// any more, and fires. Added are layers that were added to the network for that; what of now they do not make was there before. Where such
// a one would be an output of the network, that is a miss, and nothing may have been added.
func (c *Candidate) Exchange(old, now []*graph.Tensor, added ...*graph.Layer) bool {
	r, members := c.r, c.Members
	for k, y := range old {
		if r.net.IsOutput(y) && !slices.Contains(added, now[k].Producer) {
			return c.Miss(NetworkOutput, "%s is an output of the network", y.Name)
		}
	}
	var roots []*graph.Layer
	for _, y := range old {
		if !slices.Contains(roots, y.Producer) {
			roots = append(roots, y.Producer)
		}
		y.Producer = nil // so that it stays when its layer goes
	}
	for _, l := range slices.Backward(roots) {
		r.net.Remove(l)
	}
	for k, y := range old {
		x := now[k]
		if p := x.Producer; slices.Contains(added, p) {
			r.net.Redirect(x, y)
			p.SetOutput(slices.Index(p.Outputs, x), y)
		} else {
			r.net.Redirect(y, x)
		}
	}
	r.removeUnused(c.Found)
	for _, l := range added {
		if len(members) > 0 {
			l.From = members
		}
	}
	if len(added) == 0 {
		for _, l := range c.Found {
			r.Eliminate(l, nil)
		}
	}
	return c.Fire(added...)
}
