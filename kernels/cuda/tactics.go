package cuda

import (
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// emitter is a tactic before it has a device: what it computes, when, and the code.
type emitter struct {
	name    string // op_type_tier_tile
	op      *graph.Op
	in, out kernels.Format
	match   func(kernels.Binding) error
	// workspace returns the bytes of scratch memory; nil: none.
	workspace func(kernels.Binding) int
	// emit returns the launches; nil: there are none.
	emit func(kernels.Binding) (*work, error)
	// cost returns what the launches ask of the device; nil: as much as the tensors' bytes.
	cost func(kernels.Binding) []job
	// inPlace says that the output may lie where an equal input does: each element is read by the thread that writes it.
	inPlace bool
	// strided says that tensors may be slices of larger ones: in NHWC of their channels, in Linear of all behind axis 0.
	strided bool
	// empty says that tensors without elements are taken.
	empty bool
}

// emitters returns the families of kernels, for each op what needs none, then the best guess first. To add a kernel is to add
// a line in one of them.
func emitters() []emitter {
	return slices.Concat(
		nothingEmitters(),
		knownEmitters(),
		pointwiseEmitters(),
		integerEmitters(),
		quantizeEmitters(),
		castEmitters(),
		reformatEmitters(),
		plainConvEmitters(),
		stemEmitters(),
		productEmitters(),
		depthwiseEmitters(),
		directEmitters(),
		volumeEmitters(),
		transposedEmitters(),
		givenEmitters(),
		batchedEmitters(),
		multiplyEmitters(),
		integerProductEmitters(),
		plainPoolEmitters(),
		poolEmitters(),
		integerReduceEmitters(),
		reduceEmitters(),
		softmaxEmitters(),
		normalizeEmitters(),
		momentEmitters(),
		responseEmitters(),
		orderEmitters(),
		oneHotEmitters(),
		cumulateEmitters(),
		resizeEmitters(),
		gatherEmitters(),
		scatterEmitters(),
		transposeEmitters(),
		moveEmitters(),
		pieceEmitters(),
	)
}

// table returns the tactics for the backend's device.
func (b *Backend) table() []kernels.Tactic {
	m := newMachine(b.context().Device())
	var list []kernels.Tactic
	for _, e := range emitters() {
		list = append(list, kernels.Tactic{
			Name: e.name, Op: e.op, In: e.in, Out: e.out, Match: e.matches, Workspace: e.workspace, InPlace: e.inPlace, Strided: e.strided,
			Cost: func(bind kernels.Binding) time.Duration {
				var t time.Duration
				for _, j := range e.jobs(bind) {
					t += m.time(j)
				}
				return t
			},
			Bind: func(bind kernels.Binding) (kernels.Kernel, error) {
				if e.emit == nil {
					return nothing{}, nil
				}
				w, err := e.emit(bind)
				if err != nil {
					return nil, err
				}
				return b.bind(w)
			},
		})
	}
	return list
}

// matches refuses what no kernel takes, and then asks the emitter.
func (e emitter) matches(b kernels.Binding) error {
	for _, list := range [][]kernels.Desc{b.In, b.Out} {
		for _, d := range list {
			if !d.Dense() && (!e.strided || d.Format == kernels.NHWC && d.Batch > 0) {
				return fmt.Errorf("slices of larger tensors are not read or written")
			}
			switch n := d.Span() / max(1, d.Type.Size()); {
			case n > maxElements:
				return fmt.Errorf("%v takes more than %d elements in memory", d, maxElements)
			case graph.Count(d.Dims) == 0 && !e.empty && d.Type.Size() > 0:
				return fmt.Errorf("%v is empty", d)
			}
		}
	}
	return e.match(b)
}

// maxElements bounds a tensor, so that indices are 31 bits wide.
const maxElements = 1<<31 - 1

// jobs returns what the launches ask of the device.
func (e emitter) jobs(b kernels.Binding) []job {
	if e.cost != nil {
		return e.cost(b)
	}
	if e.emit == nil {
		return nil
	}
	return []job{{blocks: 1, bytes: traffic(b)}}
}

// traffic returns the bytes of all activations and constants of a binding, each once.
func traffic(b kernels.Binding) float64 {
	n := 0
	for i, d := range b.In {
		if b.Layer.Inputs[i] != nil {
			n += d.Bytes()
		}
	}
	for _, d := range b.Out {
		n += d.Bytes()
	}
	return float64(n)
}
