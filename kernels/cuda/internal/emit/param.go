package emit

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// Arg is what a launch passes for a parameter of its kernel: the address of something, plus offset, or a number.
type Arg struct {
	Kind   ArgKind
	Index  int    // of the input or output
	Offset int    // bytes, of an address
	Bits   uint64 // of a number
}

// ArgKind is what an argument is: the address of something, or a number.
type ArgKind uint8

// The kinds: the address of an input, an output, the work's constants, the workspace, or the stream's counters
// ([MaxCounters]); and numbers, of 32 bits but for a LongArg.
const (
	InputArg ArgKind = iota
	OutputArg
	ConstantArg
	WorkspaceArg
	CounterArg
	IntegerArg
	LongArg
	RealArg
)

// parameterTypes says for each kind as what a kernel may declare its parameter.
var parameterTypes = [...][]ptx.Type{
	InputArg: {ptx.U64, ptx.B64}, OutputArg: {ptx.U64, ptx.B64}, ConstantArg: {ptx.U64, ptx.B64},
	WorkspaceArg: {ptx.U64, ptx.B64}, CounterArg: {ptx.U64, ptx.B64},
	IntegerArg: {ptx.U32, ptx.S32, ptx.B32}, LongArg: {ptx.U64, ptx.S64, ptx.B64}, RealArg: {ptx.F32},
}

// InArg is the address of input i.
func InArg(i int) Arg { return Arg{Kind: InputArg, Index: i} }

// OutArg is the address of output i.
func OutArg(i int) Arg { return Arg{Kind: OutputArg, Index: i} }

// ConstArg is an address among the constants, offset bytes from where they begin.
func ConstArg(offset int) Arg { return Arg{Kind: ConstantArg, Offset: offset} }

// ScratchArg is an address in the workspace, offset bytes from where it begins.
func ScratchArg(offset int) Arg { return Arg{Kind: WorkspaceArg, Offset: offset} }

// CountersArg is the address of the counters.
func CountersArg() Arg { return Arg{Kind: CounterArg} }

// UintArg is a number.
func UintArg(n uint32) Arg { return Arg{Kind: IntegerArg, Bits: uint64(n)} }

// FloatArg is a number.
func FloatArg(x float32) Arg { return Arg{Kind: RealArg, Bits: uint64(math.Float32bits(x))} }

// NumberArg is the number with the given bits, as a register of type t holds it.
func NumberArg(t ptx.Type, bits int64) Arg {
	kind := IntegerArg
	switch t {
	case ptx.B64:
		kind = LongArg
	case ptx.F32:
		kind = RealArg
	}
	return Arg{Kind: kind, Bits: uint64(bits)}
}

// Params is the arguments of a launch with their places among its kernel's parameters.
type Params struct {
	args   []Arg
	places []int // bytes
	size   int
}

// Params gives a launch's arguments their places. An error names the parameter for which the launch has another argument
// than its kernel declares.
func (w *Work) Params(l Launch) (Params, error) {
	i := slices.IndexFunc(w.Module.Kernels, func(k *ptx.Kernel) bool { return k.Name == l.Kernel })
	if i < 0 {
		return Params{}, fmt.Errorf("kernel %s: the module has none of the name", l.Kernel)
	}
	k := w.Module.Kernels[i]
	if len(k.Params) != len(l.Args) {
		return Params{}, fmt.Errorf("kernel %s: %d arguments for %d parameters", l.Kernel, len(l.Args), len(k.Params))
	}
	for i, a := range l.Args {
		v, takes := &k.Params[i], parameterTypes[a.Kind]
		if v.Count > 0 || !slices.Contains(takes, v.Type) {
			return Params{}, fmt.Errorf("kernel %s: parameter %d, %s, is %s of %d bytes; its argument is for %s",
				l.Kernel, i, v.Name, v.Type, v.Size(), takes[0])
		}
	}
	p := Params{args: l.Args}
	p.places, p.size = k.ParamLayout()
	return p, nil
}

// Pack returns the buffer of a launch. address tells where lies what an argument is the address of, without its offset.
func (p Params) Pack(address func(Arg) uint64) []byte {
	buffer := make([]byte, p.size)
	for i, a := range p.args {
		switch to := buffer[p.places[i]:]; a.Kind {
		case IntegerArg, RealArg:
			binary.LittleEndian.PutUint32(to, uint32(a.Bits))
		case LongArg:
			binary.LittleEndian.PutUint64(to, a.Bits)
		default:
			binary.LittleEndian.PutUint64(to, address(a)+uint64(a.Offset))
		}
	}
	return buffer
}
