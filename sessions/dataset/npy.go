package dataset

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trtui/trtui/core/graph/numeric"
)

// npyTypes are numpy's type codes by the types they have here; each begins with a byte order in a file.
var npyTypes = map[string]numeric.DataType{
	"f4": numeric.F32, "f8": numeric.F64, "f2": numeric.F16, "u1": numeric.U8, "i1": numeric.I8, "i2": numeric.I16, "i4": numeric.I32,
	"i8": numeric.I64, "u2": numeric.U16, "u4": numeric.U32, "u8": numeric.U64, "b1": numeric.Bool,
}

var (
	npyDescr   = regexp.MustCompile(`'descr'\s*:\s*'([^']*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape'\s*:\s*\(([^)]*)\)`)
)

// readNpy reads an array in numpy's .npy format, versions 1 to 3, and returns those rows (indices of the first axis)
// that the options choose; the others are not kept.
// The array has no more than most bytes.
func readNpy(r io.Reader, most int, part func(n int) (first, count int, err error)) (numeric.Value, error) {
	var v numeric.Value
	e, dims, err := readNpyHeader(r)
	if err != nil {
		return v, err
	}
	first, count, row := 0, 1, e.size
	for i, d := range dims {
		if i == 0 {
			continue
		}
		if d > 0 && row > maxBytes/d {
			return v, errTooLarge
		}
		row *= d
	}
	if len(dims) > 0 {
		if first, count, err = part(dims[0]); err != nil {
			return v, err
		}
		dims[0] = count
	}
	if int64(first)*int64(row) > 1<<40 {
		return v, errTooLarge
	}
	if _, err := io.CopyN(io.Discard, r, int64(first)*int64(row)); err != nil {
		return v, fmt.Errorf("the file ends before item %d", first)
	}
	if row > 0 && count > most/row {
		return v, errTooLarge
	}
	if e.typ == numeric.Str { // which may have no bytes each
		elements := 1
		for _, d := range dims {
			if d > 0 && elements > most/stringBytes/d {
				return v, errTooLarge
			}
			elements *= d
		}
	}
	data, err := readExactly(r, count*row)
	if err == nil && e.typ == numeric.Str {
		return e.strings(data, dims)
	}
	return numeric.Value{Type: e.typ, Dims: dims, Data: data}, err
}

// stringBytes is what a string takes in memory beside its text.
const stringBytes = 16

// npyElement is what an array is of.
type npyElement struct {
	typ  numeric.DataType
	size int  // bytes; of a string as many as the longest has
	wide bool // a string has four bytes for a character, and not one for a byte
}

// strings returns the elements, behind each of which are zeros up to its size.
func (e npyElement) strings(data []byte, dims []int) (numeric.Value, error) {
	list := make([]string, numeric.Count(dims))
	for i := range list {
		b := data[i*e.size : (i+1)*e.size]
		if !e.wide {
			list[i] = strings.TrimRight(string(b), "\x00")
			continue
		}
		var runes []rune
		for _, c := range numeric.View[uint32](b) {
			if c > utf8.MaxRune || !utf8.ValidRune(rune(c)) {
				return numeric.Value{}, fmt.Errorf("string %d has %#x, which is no character", i, c)
			}
			runes = append(runes, rune(c))
		}
		list[i] = strings.TrimRight(string(runes), "\x00")
	}
	return numeric.Strings(list, dims...), nil
}

// elementOf returns what a type code of numpy, with its byte order, stands for.
func elementOf(code string) (npyElement, error) {
	plain := strings.TrimLeft(code, "<|=>")
	if plain == "O" {
		return npyElement{}, errors.New("arrays of Python's objects are not supported; save strings as such, as by astype('U')")
	}
	if n, err := strconv.Atoi(strings.TrimLeft(plain, "US")); err == nil && len(plain) > 1 && n >= 0 && n <= maxBytes/4 {
		switch {
		case plain[0] == 'S':
			return npyElement{numeric.Str, n, false}, nil
		case plain[0] == 'U' && code[0] != '>':
			return npyElement{numeric.Str, 4 * n, true}, nil
		}
	}
	t, ok := npyTypes[plain]
	switch {
	case plain != "" && plain[0] == 'U' && code[0] == '>', ok && code[0] == '>' && t.Size() > 1:
		return npyElement{}, fmt.Errorf("arrays of type %q, big-endian, are not supported; save it little-endian", code)
	case !ok:
		return npyElement{}, fmt.Errorf("arrays of type %q are not supported", code)
	}
	return npyElement{typ: t, size: t.Size()}, nil
}

func readNpyHeader(r io.Reader) (e npyElement, dims []int, err error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:10]); err != nil || string(head[:6]) != "\x93NUMPY" {
		return e, nil, fmt.Errorf("not a .npy array: it does not begin as one")
	}
	size := int(binary.LittleEndian.Uint16(head[8:]))
	switch head[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, head[10:]); err != nil {
			return e, nil, fmt.Errorf("the header of the array is cut off")
		}
		size = int(binary.LittleEndian.Uint32(head[8:]))
	default:
		return e, nil, fmt.Errorf("version %d of the .npy format is unknown", head[6])
	}
	if size > 1<<16 {
		return e, nil, fmt.Errorf("the header of the array has %d bytes", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return e, nil, fmt.Errorf("the header of the array is cut off")
	}
	return parseNpyHeader(string(text))
}

// parseNpyHeader reads the Python dictionary that is the header's text.
func parseNpyHeader(text string) (e npyElement, dims []int, err error) {
	descr, order, shape := npyDescr.FindStringSubmatch(text), npyFortran.FindStringSubmatch(text), npyShape.FindStringSubmatch(text)
	if descr == nil || order == nil || shape == nil {
		return e, nil, fmt.Errorf("the header of the array lacks type, order or shape (arrays of records are not supported)")
	}
	if e, err = elementOf(descr[1]); err != nil {
		return e, nil, err
	}
	for s := range strings.SplitSeq(shape[1], ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		d, err := strconv.Atoi(strings.TrimSuffix(s, "L"))
		if err != nil || d < 0 || d > 1<<40 {
			return e, nil, fmt.Errorf("the array's shape (%s) is wrong", shape[1])
		}
		dims = append(dims, d)
		if len(dims) > 32 {
			return e, nil, fmt.Errorf("the array has more than 32 axes")
		}
	}
	if order[1] == "True" && len(dims) > 1 {
		return e, nil, fmt.Errorf("the array is in Fortran order; save it in C order (numpy.ascontiguousarray)")
	}
	return e, dims, nil
}

// IsLabels reports whether an array of this name in a .npz is labels, unless a network has an input of that name.
func IsLabels(name string) bool { return name == "y" || name == "labels" }

// readNpz reads the arrays of a .npz: those named as labels are and not among o.Inputs are labels, the others inputs, where one named x
// is the only input.
func readNpz(file io.ReaderAt, size int64, o Options) (arrays []Array, labels []int, err error) {
	z, err := zip.NewReader(file, size)
	if err != nil {
		return nil, nil, fmt.Errorf("not a .npz archive: %w", err)
	}
	left, counts := maxBytes, map[int]bool{}
	part := func(n int) (first, count int, err error) {
		counts[n] = true
		return o.part(n)
	}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			return nil, nil, fmt.Errorf("%s in the archive is no .npy array", f.Name)
		}
		v, err := readMember(f, left, part)
		if err != nil {
			return nil, nil, fmt.Errorf("array %s: %w", name, err)
		}
		left -= len(v.Data)
		if IsLabels(name) && !slices.Contains(o.Inputs, name) {
			if labels, err = toLabels(v); err != nil {
				return nil, nil, fmt.Errorf("array %s: %w", name, err)
			}
			continue
		}
		arrays = append(arrays, Array{name, v})
	}
	if len(counts) > 1 && (o.First > 0 || o.Limit > 0) {
		return nil, nil, fmt.Errorf("some of its items are wanted, but its arrays have %v in their first axes, which do not all count items", slices.Sorted(maps.Keys(counts)))
	}
	if len(arrays) == 1 && arrays[0].Name == "x" {
		arrays[0].Name = ""
	}
	if len(arrays) == 0 {
		return nil, nil, fmt.Errorf("the archive has no array x")
	}
	return arrays, labels, nil
}

func readMember(f *zip.File, most int, part func(n int) (first, count int, err error)) (numeric.Value, error) {
	r, err := f.Open()
	if err != nil {
		return numeric.Value{}, err
	}
	defer r.Close()
	return readNpy(r, most, part)
}

// toLabels returns the elements of a list of integers as labels.
func toLabels(v numeric.Value) ([]int, error) {
	n := v.Len()
	if len(v.Dims) < 1 || n != v.Dims[0] || !v.Type.IsInteger() {
		return nil, fmt.Errorf("labels must be a list of integers, these are %s%v", v.Type, v.Dims)
	}
	labels := make([]int, n)
	for i, x := range v.Ints() {
		if x < 0 || x > 1<<31 {
			return nil, fmt.Errorf("label %d of item %d is no class", x, i)
		}
		labels[i] = int(x)
	}
	return labels, nil
}
