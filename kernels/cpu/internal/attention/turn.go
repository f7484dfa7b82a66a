package attention

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
	"github.com/trtui/trtui/kernels/cpu/internal/asm"
	"github.com/trtui/trtui/kernels/cpu/internal/work"
)

// turning is the rotary embedding of queries and new keys, which are turned into the workspace before all else: the heads of a
// place side by side, first those of queries.
type turning struct {
	work.Rotation
	batch, places int
	cos, sin      Strides
	items         int        // that have angles of their own; 1: all have the same
	heads         [2]int     // of queries and of keys
	from          [2]Strides // where they lie
	row           int        // elements of a place in the workspace
}

// turningOf returns the turning of a layer and makes s that of what is turned; nil where nothing is.
func turningOf(b kernels.Binding, s *Shape, isa asm.Features) *turning {
	if !given(b, graph.AttentionCos) {
		return nil
	}
	cos, sin := b.In[graph.AttentionCos], b.In[graph.AttentionSin]
	t := &turning{Rotation: work.NewRotation(s.Size, b.Layer.Attrs.(graph.AttentionAttrs).Interleaved, isa),
		batch: s.Batch, places: s.Queries, items: cos.Dims[0], heads: [2]int{s.Heads, s.KVHeads}, from: [2]Strides{s.Q, s.K}}
	t.cos, t.sin = Strides{Batch: cos.BatchStride(), Row: cos.RowPitch()}, Strides{Batch: sin.BatchStride(), Row: sin.RowPitch()}
	t.row = (s.Heads + s.KVHeads) * s.Size
	s.Q = Strides{t.places * t.row, s.Size, t.row}
	s.K = s.Q
	return t
}

// workspace returns the elements that what is turned takes.
func (t *turning) workspace() int {
	if t == nil {
		return 0
	}
	return work.RoundUp64(t.batch * t.places * t.row)
}

// turnRun is the state of one launch.
type turnRun struct {
	*turning
	x        [2][]float32
	y        []float32
	cos, sin []float32
	joined   bool // keys follow queries in memory, too
}

var turnJob = work.NewJob((*turnRun).do)

// run turns the call's queries and keys.
func (t *turning) run(parallel work.Parallel, c *Call, cos, sin, ws []float32) {
	r := turnRun{turning: t, x: [2][]float32{c.Q, c.K}, y: ws[:t.batch*t.places*t.row], cos: cos, sin: sin}
	keys := t.heads[0] * t.Size
	r.joined = t.from[0] == t.from[1] && t.from[0].Head == t.Size && len(c.Q) > keys && &c.Q[keys] == &c.K[0]
	c.Q, c.K = r.y, r.y[keys:]
	turnJob.Each(parallel, t.batch*t.places, r)
}

// do turns all heads of one place of an item.
func (r *turnRun) do(u, _ int) {
	t, item, place := r.turning, u/r.places, u%r.places
	angles, half := min(item, r.items-1), r.Size/2
	cos, sin := r.cos[angles*t.cos.Batch+place*t.cos.Row:][:half], r.sin[angles*t.sin.Batch+place*t.sin.Row:][:half]
	y := r.y[u*r.row:][:r.row]
	if x := r.x[0][item*t.from[0].Batch+place*t.from[0].Row:]; r.joined && len(x) >= t.row { // of the last place, queries may end x
		t.Turn(y, x, cos, sin, t.heads[0]+t.heads[1])
		return
	}
	for i, heads := range t.heads {
		x, head := r.x[i][item*t.from[i].Batch+place*t.from[i].Row:], t.from[i].Head
		if head == r.Size {
			t.Turn(y, x, cos, sin, heads)
		} else {
			for h := range heads {
				t.Turn(y[h*r.Size:], x[h*head:], cos, sin, 1)
			}
		}
		y = y[heads*r.Size:]
	}
}
