package generate

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
)

// Traffic is what a run for a single token reads whatever the token is: what bounds the tokens of a second where a text is written
// alone.
type Traffic struct {
	Weights int64 // bytes of constants, of a table of rows those that are taken
	State   int64 // bytes of earlier keys and values, with the room that is kept for those to come
}

// Bytes is all of it.
func (t Traffic) Bytes() int64 { return t.Weights + t.State }

// Traffic returns what a single token takes of memory; zero of a model without state, and before one was written.
func (m *Model) Traffic() (t Traffic) {
	d, ok := m.decoder.(*cachedDecoder)
	if !ok || d.single == nil {
		return t
	}
	t.Weights = weightsRead(d.single.loaded.Plan)
	for _, s := range d.state {
		t.State += int64(len(s.buffer.Data))
	}
	return t
}

// weightsRead returns the bytes of constants that the steps of a plan read.
func weightsRead(p *run.Plan) (n int64) {
	for _, l := range p.Network.Layers {
		for i, x := range l.Inputs {
			if x == nil || !x.IsConst() {
				continue
			}
			size := int64(len(x.Weights))
			if i == 0 && l.Op.Chosen != nil {
				size = min(size, int64(numeric.Count(symbolic.Eval(l.Outputs[0].Dims, p.Env()))*x.Type.Size()))
			}
			n += size
		}
	}
	return n
}
