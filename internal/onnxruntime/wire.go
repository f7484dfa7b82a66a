package onnxruntime

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// The two processes send each other lists of byte strings: how many there are as 4 bytes, and before each one its length as 8, in
// little endian. The first one is a head in JSON. A request has the model's bytes behind it, which are empty where the head names a
// file, and then its tensors, whose elements lie as in memory; an answer has the tensors alone. The first answer has no request: it
// says what there is.

// head is the first part of a request or an answer.
type head struct {
	Path    string       `json:"path"`
	More    []string     `json:"more"`    // tensors to give beside the outputs
	Load    bool         `json:"load"`    // the model and no more
	Tensors []tensorHead `json:"tensors"` // that follow
	Error   string       `json:"error,omitempty"`
	Version string       `json:"version,omitempty"`
}

type tensorHead struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Dims []int  `json:"dims"`
}

// maxAnswer bounds what an answer may have in bytes, and its number of parts.
const (
	maxAnswer = 2 << 30
	maxParts  = 1 << 20
)

func write(w io.Writer, parts [][]byte) error {
	if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(parts)))); err != nil {
		return err
	}
	for _, p := range parts {
		if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p)))); err != nil {
			return err
		}
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// request returns the parts of a request; load asks for no outputs.
func request(m Model, in map[string]numeric.Value, load bool) ([][]byte, error) {
	h := head{Path: m.Path, Load: load, More: append([]string{}, m.More...), Tensors: []tensorHead{}}
	parts := [][]byte{nil, m.Data}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		v := in[name]
		h.Tensors = append(h.Tensors, tensorHead{name, v.Type.String(), append([]int{}, v.Dims...)})
		parts = append(parts, v.Data)
	}
	var err error
	parts[0], err = json.Marshal(h)
	return parts, err
}

// read reads an answer.
func read(r io.Reader) (head, map[string]numeric.Value, error) {
	var h head
	var count uint32
	if err := binary.Read(r, binary.LittleEndian, &count); err != nil {
		return h, nil, err
	}
	if count == 0 || count > maxParts {
		return h, nil, fmt.Errorf("an answer of %d parts", count)
	}
	left := int64(maxAnswer)
	part := func() ([]byte, error) {
		var n uint64
		if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
			return nil, err
		}
		if n > math.MaxInt64 || int64(n) > left {
			return nil, fmt.Errorf("the outputs have more than %d MiB", maxAnswer>>20)
		}
		left -= int64(n)
		b := make([]byte, n)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	text, err := part()
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err == nil && len(h.Tensors) != int(count)-1 {
		err = errors.New("an answer that does not describe its parts")
	}
	if err != nil {
		return h, nil, err
	}
	out := make(map[string]numeric.Value, len(h.Tensors))
	for _, t := range h.Tensors {
		data, err := part()
		if err != nil {
			return h, nil, err
		}
		if out[t.Name], err = t.value(data); err != nil {
			return h, nil, err
		}
	}
	return h, out, nil
}

func (t tensorHead) value(data []byte) (numeric.Value, error) {
	if v := (numeric.Value{Type: numeric.Str, Dims: t.Dims, Data: data}); t.Type == v.Type.String() && v.Check() == nil {
		return v, nil
	}
	for typ := numeric.F32; typ <= numeric.Bool; typ++ {
		if typ.String() == t.Type && numeric.Count(t.Dims)*typ.Size() == len(data) {
			return numeric.Value{Type: typ, Dims: t.Dims, Data: data}, nil
		}
	}
	return numeric.Value{}, fmt.Errorf("tensor %s, %s%v, has %d bytes", t.Name, t.Type, t.Dims, len(data))
}
