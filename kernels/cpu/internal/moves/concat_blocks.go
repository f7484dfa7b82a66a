package moves

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// A concatenation in blocks of channels whose inputs do not fill their blocks: every block of the output is put together
// from lanes of blocks.

// ConcatBlocks are such concatenations.
func ConcatBlocks(isa asm.Features) []kernels.Tactic {
	return []kernels.Tactic{{
		Name: "concat_lanes_" + work.ISAName(isa) + "_c16", Op: graph.Concat, Needs: kernels.Feature(isa),
		In: kernels.C16, Out: kernels.C16, Strided: true, Match: matchConcatBlocks,
		Bind: func(b kernels.Binding) (kernels.Kernel, error) {
			return bindConcatBlocks(b, work.LayoutKernel(isa)), nil
		},
	}}
}

// lanePart is lanes of one block of an input that become n lanes of a block of the output.
type lanePart struct {
	input, block int
	from, to, n  int
}

// laneParts returns the parts of each output block for inputs of the given channels.
func laneParts(channels []int) [][]lanePart {
	total := 0
	for _, c := range channels {
		total += c
	}
	parts := make([][]lanePart, work.BlocksOf(total))
	at := 0 // channel of the output
	for i, c := range channels {
		for from := 0; from < c; {
			to := at + from
			p := lanePart{input: i, block: from / work.Lanes, from: from % work.Lanes, to: to % work.Lanes}
			p.n = min(c-from, work.Lanes-p.from, work.Lanes-p.to)
			parts[to/work.Lanes] = append(parts[to/work.Lanes], p)
			from += p.n
		}
		at += c
	}
	return parts
}

func matchConcatBlocks(b kernels.Binding) error {
	out := b.Out[0]
	if concatAxis(b) != 1 || out.Type.Size() > 4 {
		return fmt.Errorf("the kernel concatenates elements of up to 4 bytes along channels, not %v along axis %d", out, concatAxis(b))
	}
	if b.Layer.Epilogue.Args > 0 {
		return fmt.Errorf("the kernel has no epilogue")
	}
	for i := range b.In {
		t := b.Layer.Inputs[i]
		if t.Type != out.Type || !t.Range.Equal(b.Layer.Outputs[0].Range) || b.Consts[i] != nil {
			return fmt.Errorf("input %s has another type or range, or is a constant", t.Name)
		}
	}
	return nil
}

// concatBlocksKernel is such a concatenation bound to a layer.
type concatBlocksKernel struct {
	b     kernels.Binding
	lanes func(asm.LanesCall)
	parts [][]lanePart
	plane int // bytes of a block of channels
	job   *work.Job[concatLaunch]
}

// concatLaunch is the state of one launch.
type concatLaunch struct {
	kernel *concatBlocksKernel
	in     []kernels.Mem
	out    []byte
}

func bindConcatBlocks(b kernels.Binding, with asm.LayoutKernel) *concatBlocksKernel {
	k := &concatBlocksKernel{b: b, lanes: with.Lanes, plane: numeric.Count(b.Out[0].Dims[2:]) * work.Lanes * b.Out[0].Type.Size()}
	var channels []int
	for _, d := range b.In {
		channels = append(channels, d.Dims[1])
	}
	k.parts = laneParts(channels)
	k.job = work.NewJob((*concatLaunch).do)
	return k
}

// Launch puts all blocks together.
func (k *concatBlocksKernel) Launch(st kernels.Stream, in, out []kernels.Mem, _ kernels.Mem) error {
	k.job.Each(work.LoopOver(st, k.b.Out[0].Bytes()), k.b.Out[0].Dims[0]*len(k.parts), concatLaunch{k, in, out[0].Host})
	return nil
}

func (l *concatLaunch) do(u, _ int) {
	k := l.kernel
	n, block := u/len(k.parts), u%len(k.parts)
	size := k.b.Out[0].Type.Size()
	dst := l.out[n*k.b.Out[0].BatchStride()*size+block*k.plane:][:k.plane]
	for i, p := range k.parts[block] {
		src := l.in[p.input].Host[n*k.b.In[p.input].BatchStride()*size+p.block*k.plane:]
		k.lanes(asm.LanesCall{Dst: dst, Src: src, Size: size, From: p.from, To: p.to, N: p.n, Clear: i == 0})
	}
}
