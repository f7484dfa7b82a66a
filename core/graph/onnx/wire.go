package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// decoder reads protobuf messages. Its error is the first that occurred and says in which message.
type decoder struct {
	path     []string // the messages being read, outermost first
	messages int      // of the kinds that are counted
	depth    int      // of the graph that is read: 0 for the model's own
	values   bool     // what the graph says of its values is read
	err      error
}

// field is one field of a message: val is set for numbers, buf for everything that has a length.
type field struct {
	num protowire.Number
	typ protowire.Type
	val uint64
	buf []byte
}

// fields calls visit for each field of a message, until an error occurs. Fields of an unknown kind are skipped by
// visit's ignoring them.
func (d *decoder) fields(what string, b []byte, visit func(f field)) {
	d.path = append(d.path, what)
	defer func() { d.path = d.path[:len(d.path)-1] }()
	size := len(b)
	for len(b) > 0 && d.err == nil {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			d.failf("byte %d: %w", size-len(b), protowire.ParseError(n))
			return
		}
		b = b[n:]
		f := field{num: num, typ: typ}
		switch typ {
		case protowire.VarintType:
			f.val, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			f.val = uint64(v)
		case protowire.Fixed64Type:
			f.val, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.buf, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			d.failf("field %d at byte %d: %w", num, size-len(b), protowire.ParseError(n))
			return
		}
		b = b[n:]
		visit(f)
	}
}

// failf records an error, unless there is one already.
func (d *decoder) failf(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s: %w", strings.Join(d.path, ": "), fmt.Errorf(format, args...))
	}
}

// want reports whether f has the wire type, and records an error if not.
func (d *decoder) want(f field, typ protowire.Type) bool {
	if f.typ != typ {
		d.failf("field %d has wire type %d, want %d", f.num, f.typ, typ)
		return false
	}
	return true
}

// bytes returns the contents of a field that has a length. They are part of the message.
func (d *decoder) bytes(f field) []byte {
	if !d.want(f, protowire.BytesType) {
		return nil
	}
	return f.buf
}

// text returns a string field; bytes that are no UTF-8 are replaced.
func (d *decoder) text(f field) string { return strings.ToValidUTF8(string(d.bytes(f)), "\uFFFD") }

// int returns an integer field.
func (d *decoder) int(f field) int64 {
	d.want(f, protowire.VarintType)
	return int64(f.val)
}

// float returns a float field.
func (d *decoder) float(f field) float32 {
	d.want(f, protowire.Fixed32Type)
	return math.Float32frombits(uint32(f.val))
}

// ints appends a repeated integer field, which may be packed.
func (d *decoder) ints(list []int64, f field) []int64 {
	if f.typ == protowire.VarintType {
		return append(list, int64(f.val))
	}
	b := d.bytes(f)
	list = slices.Grow(list, countVarints(b))
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			d.failf("field %d: %w", f.num, protowire.ParseError(n))
			return list
		}
		list, b = append(list, int64(v)), b[n:]
	}
	return list
}

// countVarints returns the number of varints that end in b.
func countVarints(b []byte) int {
	n := 0
	for _, c := range b {
		if c < 0x80 {
			n++
		}
	}
	return n
}

// fixed appends a repeated field of numbers of size bytes, which may be packed, as little-endian bytes.
func (d *decoder) fixed(list []byte, f field, size int) []byte {
	switch {
	case f.typ == protowire.Fixed32Type && size == 4:
		return protowire.AppendFixed32(list, uint32(f.val))
	case f.typ == protowire.Fixed64Type && size == 8:
		return protowire.AppendFixed64(list, f.val)
	}
	b := d.bytes(f)
	if len(b)%size != 0 {
		d.failf("field %d has %d bytes, want a multiple of %d", f.num, len(b), size)
	}
	return append(list, b...)
}
