package plugin

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/trtui/trtui/core/graph/numeric"
)

// types are the element types that plugins have, by their numbers in ONNX's TensorProto.
var types = []struct {
	number int64
	of     numeric.DataType
}{
	{1, numeric.F32}, {2, numeric.U8}, {3, numeric.I8}, {4, numeric.U16}, {5, numeric.I16}, {6, numeric.I32}, {7, numeric.I64}, {9, numeric.Bool},
	{11, numeric.F64}, {12, numeric.U32}, {13, numeric.U64},
}

func typeNamed(name string) (numeric.DataType, bool) {
	for _, t := range types {
		if t.of.String() == name {
			return t.of, true
		}
	}
	return numeric.Invalid, false
}

func typeNames() string {
	var names []string
	for _, t := range types {
		names = append(names, t.of.String())
	}
	return strings.Join(names, ", ")
}

// tensor is a tensor of a request or of an answer. An extent below 0 is a symbol: -1 less its number.
type tensor struct {
	of   numeric.DataType // Invalid: it is left out
	dims []int64
	data []byte // of an input; nil where it is not known
	size int    // bytes, where there is data or room for it
}

// request is what a module is asked.
type request struct {
	op      int
	attrs   []Value
	inputs  []tensor
	outputs int      // of which shapes are asked for
	results []tensor // that are to be computed
}

// The kinds of attributes in a request.
const (
	kindInts = 1 + iota
	kindFloats
	kindText
)

// layout writes the request as it is at an address, and returns where in it the data of inputs and results are; with the data
// behind it it takes total bytes.
func (r *request) layout(at int) (head []byte, places []int, total int) {
	word := func(v int64) { head = binary.LittleEndian.AppendUint64(head, uint64(v)) }
	for _, v := range []int{r.op, len(r.attrs), len(r.inputs), max(r.outputs, len(r.results))} {
		word(int64(v))
	}
	for _, a := range r.attrs {
		switch a.Kind {
		case "int", "ints":
			word(kindInts)
			word(int64(len(a.Ints)))
			for _, v := range a.Ints {
				word(v)
			}
		case "float", "floats":
			word(kindFloats)
			word(int64(len(a.Floats)))
			for _, v := range a.Floats {
				word(int64(math.Float64bits(v)))
			}
		default:
			word(kindText)
			word(int64(len(a.Text)))
			head = append(head, a.Text...)
			for len(head)%8 > 0 {
				head = append(head, 0)
			}
		}
	}
	var slots []int // of the addresses in head
	all := append(append([]tensor(nil), r.inputs...), r.results...)
	for _, t := range all {
		word(number(t.of))
		word(int64(len(t.dims)))
		for _, d := range t.dims {
			word(d)
		}
		slots = append(slots, len(head))
		word(0)
		word(int64(t.size))
	}
	total = len(head)
	for i, t := range all {
		places = append(places, total)
		if t.size > 0 || t.data != nil {
			binary.LittleEndian.PutUint64(head[slots[i]:], uint64(at+total))
		}
		total += (t.size + 15) &^ 15
	}
	return head, places, total
}

func number(of numeric.DataType) int64 {
	for _, t := range types {
		if t.of == of {
			return t.number
		}
	}
	return 0
}

// manifest asks the module for its manifest.
func (p *Plugin) manifest(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.running(ctx)
	if err != nil {
		return nil, err
	}
	at, err := p.call(ctx, m, "trtui_manifest")
	if err != nil {
		return nil, err
	}
	text, err := sized(m.Memory(), at, maxManifest)
	if err != nil {
		return nil, fmt.Errorf("trtui_manifest: %w", err)
	}
	return append([]byte(nil), text...), nil
}

// sized returns bytes of a module's memory behind a word that says how many there are.
func sized(m api.Memory, at uint32, most int) ([]byte, error) {
	n, ok := m.ReadUint64Le(at)
	if !ok {
		return nil, fmt.Errorf("it answers at %#x, which is not in its memory", at)
	}
	if n > uint64(most) {
		return nil, fmt.Errorf("it answers %d bytes, more than %d", n, most)
	}
	if uint64(at)+8+n > uint64(m.Size()) {
		return nil, fmt.Errorf("it answers %d bytes at %#x, which are not in its memory", n, at)
	}
	text, _ := m.Read(at+8, uint32(n))
	return text, nil
}

// ask writes a request into the module's memory, calls a function with its address, and gives the answer's address, and that of the
// request with the places in it, to use before anything else runs in the module.
func (p *Plugin) ask(limit time.Duration, function string, r *request, use func(m api.Memory, answer uint32, base int, places []int) error) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() {
		if err != nil {
			p.drop()
		}
	}()
	defer caught(&err)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	m, err := p.running(ctx)
	if err != nil {
		return err
	}
	_, _, total := r.layout(0)
	if total > p.Limits.Memory {
		return fmt.Errorf("it would take %d MiB, more than the %d MiB that a plugin has", total>>20, p.Limits.Memory>>20)
	}
	base, err := p.call(ctx, m, "trtui_alloc", uint64(total))
	if err != nil {
		return err
	}
	memory := m.Memory()
	if base == 0 || base%8 != 0 || uint64(base)+uint64(total) > uint64(memory.Size()) {
		return fmt.Errorf("trtui_alloc: %d bytes at %#x are not in its memory, or not at a multiple of 8", total, base)
	}
	head, places, _ := r.layout(int(base))
	memory.Write(base, head)
	for i, t := range r.inputs {
		memory.Write(base+uint32(places[i]), t.data)
	}
	for i, t := range r.results {
		room, _ := memory.Read(base+uint32(places[len(r.inputs)+i]), uint32(t.size))
		clear(room)
	}
	answer, err := p.call(ctx, m, function, uint64(base))
	if err != nil {
		return err
	}
	return use(m.Memory(), answer, int(base), places)
}

// maxMessage bounds what a module says of an error.
const maxMessage = 4096

// refusal returns the error that an answer begins with, and where it goes on.
func refusal(m api.Memory, answer uint32) (next uint32, _ error) {
	n, ok := m.ReadUint64Le(answer)
	if !ok {
		return 0, fmt.Errorf("it answers at %#x, which is not in its memory", answer)
	}
	if n == 0 {
		return answer + 8, nil
	}
	text, err := sized(m, answer, maxMessage)
	if err != nil {
		return 0, err
	}
	return 0, errors.New(strings.ToValidUTF8(string(text), "?"))
}

// maxRank bounds the axes of a tensor that a module answers.
const maxRank = 16

// shapes reads the types and shapes of an answer, in which extents may be those of some symbols.
func shapes(m api.Memory, answer uint32, outputs, symbols int) ([]tensor, error) {
	at, err := refusal(m, answer)
	if err != nil {
		return nil, err
	}
	word := func() (v int64, err error) {
		u, ok := m.ReadUint64Le(at)
		if !ok || at > math.MaxUint32-8 {
			return 0, errors.New("its answer ends outside its memory")
		}
		at += 8
		return int64(u), nil
	}
	list := make([]tensor, outputs)
	for i := range list {
		n, err := word()
		if err != nil {
			return nil, err
		}
		for _, t := range types {
			if t.number == n {
				list[i].of = t.of
			}
		}
		rank, err := word()
		if err != nil {
			return nil, err
		}
		if list[i].of == numeric.Invalid || rank < 0 || rank > maxRank {
			return nil, fmt.Errorf("it says that output %d has type %d and %d axes: want one of ONNX's numbers of %s, and at most %d axes", i, n, rank, typeNames(), maxRank)
		}
		for axis := range rank {
			d, err := word()
			if err != nil {
				return nil, err
			}
			if d > math.MaxInt32 || d < -int64(symbols) {
				return nil, fmt.Errorf("it says that output %d has extent %d on axis %d: want one of at most 31 bits, or one of the %d symbols that it was given", i, d, axis, symbols)
			}
			list[i].dims = append(list[i].dims, d)
		}
	}
	return list, nil
}
