// Package kernels is the contract between a layer and the code that computes it.
//
// A backend offers [Tactic] values: ways of computing one op on its device. The builder shows a tactic a [Binding]
// (one layer with the actual shapes and formats of its tensors), asks whether it matches, binds it to get a [Kernel],
// times that on a [Stream], and keeps the fastest. The contract has no code of any device and no policy: those are in
// the backends (kernels/cpu, kernels/cuda) and in core/build.
package kernels

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
)

// ErrNotHalf is what a tactic for half precision says of a layer none of whose tensors is: another tactic says more.
var ErrNotHalf = errors.New("no tensor is f16")

// Format is the order of a tensor's elements in memory.
type Format uint8

// The memory formats. Shapes are always given in logical order, [N,C,...]; a format says where an element lies.
const (
	Linear Format = iota // row-major in the logical order: NCHW
	// C16 is [N, ceil(C/16), spatial..., 16]: channels in blocks of 16, as vector units want them. What lies behind the
	// last channel is finite. I8 elements are stored in offset binary, q+128, since the processors' 8-bit products take
	// one unsigned operand; U8 as they are.
	C16
	// NHWC is [N, spatial..., C] with the channels of a pixel padded to 16 bytes, as tensor cores and 16-byte copies want
	// them. What lies behind the last channel is finite.
	NHWC
)

var formats = [...]struct {
	name string
	// block returns how many channels lie together for elements of a size: the channel axis is padded to a multiple.
	block func(size int) int
}{
	{"linear", func(int) int { return 1 }},
	{"c16", func(int) int { return 16 }},
	{"nhwc", func(size int) int { return max(1, 16/size) }},
}

// Formats returns all memory formats.
func Formats() []Format { return []Format{Linear, C16, NHWC} }

func (f Format) String() string {
	if int(f) < len(formats) {
		return formats[f].name
	}
	return fmt.Sprintf("format(%d)", uint8(f))
}

// Block returns to what multiple the channels of a tensor of type t are padded: 1 for Linear.
func (f Format) Block(t numeric.DataType) int { return formats[f].block(t.Size()) }

// Known reports whether f is one of the formats.
func (f Format) Known() bool { return int(f) < len(formats) }

// MarshalText writes the format's name.
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a format's name.
func (f *Format) UnmarshalText(b []byte) error {
	for i := range formats {
		if formats[i].name == string(b) {
			*f = Format(i)
			return nil
		}
	}
	return fmt.Errorf("unknown format %q", b)
}

// Desc is a tensor as a kernel meets it: actual extents, one format.
type Desc struct {
	Type   numeric.DataType
	Dims   []int // logical order
	Format Format
	// Batch is the distance in elements between two indices of axis 0 where the tensor is a slice of a larger one (a
	// concatenation written in place); 0 means that it is dense. The slice itself starts at the kernel's Mem.
	Batch int
	// Pitch is the distance in elements between two pixels where a tensor in NHWC is a slice of the channels of a larger
	// one, and between two rows where one in Linear, of three axes or more, is a slice of the last axis of a larger one; 0
	// means that its own padded channels, or rows, follow each other.
	Pitch int
}

// Block returns to what multiple the channels are padded.
func (d Desc) Block() int { return d.Format.Block(d.Type) }

// perBatch returns the number of elements of one index of axis 0 of a dense tensor, the format's padding included.
func (d Desc) perBatch() int {
	if len(d.Dims) < 2 {
		return 1
	}
	return d.Width() * numeric.Count(d.Dims[2:])
}

// Width returns the channels of a tensor of at least two axes, those that pad them included.
func (d Desc) Width() int {
	b := d.Block()
	return (d.Dims[1] + b - 1) / b * b
}

// PixelPitch returns the distance in elements between two pixels of a tensor in NHWC.
func (d Desc) PixelPitch() int {
	if d.Pitch > 0 {
		return d.Pitch
	}
	return d.Width()
}

// BatchStride returns the distance in elements between two indices of axis 0.
func (d Desc) BatchStride() int {
	switch {
	case d.Batch > 0:
		return d.Batch
	case d.Pitch > 0:
		rows, _ := d.rows()
		return d.Pitch * rows
	}
	return d.perBatch()
}

// rows returns how many pieces of adjacent elements one index of axis 0 has where there is a Pitch between them, and the
// elements of each.
func (d Desc) rows() (n, width int) {
	if last := len(d.Dims) - 1; d.Format == Linear {
		return numeric.Count(d.Dims[1:last]), d.Dims[last]
	}
	return numeric.Count(d.Dims[2:]), d.Width()
}

// RowPitch returns the distance in elements between two rows, the vectors of the last axis, of a tensor in Linear of three
// axes or more.
func (d Desc) RowPitch() int {
	if d.Pitch > 0 {
		return d.Pitch
	}
	return d.Dims[len(d.Dims)-1]
}

// extent returns the elements from the first of an index of axis 0 to the last, as they lie.
func (d Desc) extent() int {
	n := d.perBatch()
	if d.Pitch > 0 && n > 0 {
		rows, width := d.rows()
		n = (rows-1)*d.Pitch + width
	}
	return n
}

// Bytes returns the size in memory of the dense tensor, with the padding of its format.
func (d Desc) Bytes() int {
	n := d.perBatch()
	if len(d.Dims) > 0 {
		n *= d.Dims[0]
	}
	return n * d.Type.Size()
}

// Span returns the bytes from the first element to the last, as they lie: Bytes for a dense tensor.
func (d Desc) Span() int {
	if len(d.Dims) == 0 || d.Dims[0] == 0 {
		return d.Bytes()
	}
	return ((d.Dims[0]-1)*d.BatchStride() + d.extent()) * d.Type.Size()
}

// Dense reports whether the tensor is not a slice of a larger one.
func (d Desc) Dense() bool {
	if d.Pitch > 0 {
		if _, width := d.rows(); d.Pitch != width {
			return false
		}
	}
	return d.Batch == 0 || d.Batch == d.perBatch()
}

func (d Desc) String() string { return fmt.Sprintf("%s%v %s", d.Type, d.Dims, d.Format) }

// Mem is a piece of a device's memory. On a device that shares the host's, Host is that memory; on others Host is nil
// and Addr is the device's address.
type Mem struct {
	Host []byte
	Addr uint64
}

// Feature is a set of device abilities that a tactic may need, by the backend's own bit numbers.
type Feature uint64

// Binding is what a kernel is bound to: a layer and the actual form of its inputs and outputs.
type Binding struct {
	Layer   *graph.Layer
	In, Out []Desc // go with Layer.Inputs and Layer.Outputs; the zero Desc where an optional input is left out
	// Consts goes with In: the elements, linear, of those inputs that are constants; nil for the others. They are host
	// memory on every backend: Bind packs or uploads what it needs.
	Consts []([]byte)
	Packs  *Packs // what kernels at other shapes have in common with it; nil where the layer is bound once
}

// Const returns input i's elements where it is a constant.
func (b Binding) Const(i int) (numeric.Value, bool) {
	if i >= len(b.Consts) || b.Consts[i] == nil {
		return numeric.Value{}, false
	}
	return numeric.Value{Type: b.In[i].Type, Dims: b.In[i].Dims, Data: b.Consts[i]}, true
}

// Only returns an error unless every activation, input or output, has one of the types.
func (b Binding) Only(types ...numeric.DataType) error {
	for i, d := range b.In {
		if b.Layer.Inputs[i] != nil && b.Consts[i] == nil && !slices.Contains(types, d.Type) {
			return fmt.Errorf("input %s is %s, the kernel takes %v", b.Layer.Inputs[i].Name, d.Type, types)
		}
	}
	for i, d := range b.Out {
		if !slices.Contains(types, d.Type) {
			return fmt.Errorf("output %s is %s, the kernel writes %v", b.Layer.Outputs[i].Name, d.Type, types)
		}
	}
	return nil
}

// Tactic is one way to compute an op on one device: a value in the backend's table.
type Tactic struct {
	Name  string    // op_type_isa_shape, as in "gemm_f32_avx512_12x32"; stored in engines, so renaming is a format change
	Op    *graph.Op // nil: any op
	Needs Feature
	// Variant says which one it is of several tactics that differ in their shape alone; zero: there are no others.
	Variant Variant
	// In and Out are the formats in which it reads its inputs that are not constants and writes its outputs.
	In, Out Format
	// Match says whether it can compute the binding; the error is the reason why not, as a person will read it.
	Match func(Binding) error
	// Workspace returns the bytes of scratch memory that a launch needs; nil: none.
	Workspace func(Binding) int
	// Cost estimates the time of a launch on the device; nil where the order of the backend's table is all that is known.
	Cost func(Binding) time.Duration
	// Bind prepares a kernel: packs weights, compiles. It may take long and may be called for several shapes.
	Bind func(Binding) (Kernel, error)
	// Strided says that it accepts a Desc with a Batch of its own, so that it can read and write slices of a larger tensor.
	Strided bool
	// Rows says that it reads inputs in Linear whose Desc has a Pitch of its own: slices of the last axis of a larger tensor.
	Rows bool
	// InPlace says that output 0 may be given the very memory of any one input whose Desc is equal.
	InPlace bool
	// Reference marks a tactic that is correct but slow (Eval): it is used where nothing else matches, and not timed.
	Reference bool
}

// Check returns an error for a tactic that is no complete value of a table.
func (t Tactic) Check() error {
	switch {
	case t.Name == "":
		return fmt.Errorf("a tactic has no name")
	case t.Match == nil || t.Bind == nil:
		return fmt.Errorf("tactic %s has no Match or no Bind", t.Name)
	case !t.In.Known() || !t.Out.Known():
		return fmt.Errorf("tactic %s reads %s and writes %s", t.Name, t.In, t.Out)
	}
	return nil
}

// Reads reports whether it can read an input that lies as d says, as far as slices of larger tensors go.
func (t Tactic) Reads(d Desc) bool {
	if d.Format == Linear && d.Pitch > 0 && !d.Dense() {
		return t.Rows
	}
	return d.Dense() || t.Strided
}

// Variant is one shape of a kernel that is written in several. Tactics of one op, family and tile are twins: what else they
// differ in, such as the parts of a sum or how far memory is read ahead, matters less than the tile.
type Variant struct {
	Family string // what the names of all of them begin with, as in "conv_f16_mma"
	Tile   string // what a block computes at a time, as in "128x64x128"
	Split  int    // into how many parts sums are cut
}

// Kernel is a tactic bound to one layer and shape. It is immutable: several streams may launch it at once, each with
// memory of its own.
type Kernel interface {
	// Launch computes outputs from inputs. in has a zero Mem where the binding had a constant. Outputs do not overlap
	// inputs, but for what the tactic's InPlace allows.
	Launch(s Stream, in, out []Mem, workspace Mem) error
}

// Stream is an ordered queue of work on a device.
type Stream interface {
	Record() Mark                    // a point in the queue
	Elapsed(a, b Mark) time.Duration // between two points that have been reached
	Wait() error                     // until all work is done; a device's error surfaces here
	Close() error
}

// Forker is implemented by streams that run sequences of launches side by side.
type Forker interface {
	Stream
	// Fork calls run for lanes 0 to n-1, each with a stream of its own, and returns when all have returned: at the same time, the
	// first ones first, where the device is free. n is at most Lanes.
	Fork(n int, run func(lane int, s Stream))
	// Lanes is how many sequences run side by side at most: 1 where none do.
	Lanes() int
}

// Mark is a point in a stream's work, for timing.
type Mark any
