package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/kernels"
)

// Engine is a built network: TensorRT's ICudaEngine. It is what an engine file holds.
type Engine struct {
	Source   *graph.Network  // as imported, so that it can be looked at, compared with and built anew; nil where it was left out
	Profiles []Profile       // the shapes that plans were made for
	Plans    []*Plan         // one for each profile
	Report   json.RawMessage // what the builder has to tell: its own format, not needed to run
	Origin   Provenance      // of what it was made, and by whom
	Contents Contents        // of its file, once that was read or written
}

// Profile is an optimisation profile: the shapes that one plan serves.
type Profile struct {
	Name   string
	Shapes map[string][]int // of each input
}

// The engine file is a header, a table of sections and the sections, each at a multiple of 64 bytes:
//
//	0   8  magic "trtuiEng"
//	8   4  format version
//	12  4  number of sections
//	16  4  CRC-32C of header (with this field 0) and table
//	20  44 zero
//	64  24 for each section: kind (4), CRC-32C of its bytes (4), offset (8), length (8)
//
// Numbers are little-endian; bytes between sections are zero. The manifest is JSON; the weights of all networks are
// one section, in which each constant is at a multiple of 64 and equal constants are stored once.
const (
	engineMagic   = "trtuiEng"
	engineVersion = 3
	oldestVersion = 2 // which always has the source and no provenance
	headerSize    = 64
	entrySize     = 24
	sectionAlign  = 64
	maxSections   = 16
)

// The kinds of section.
const (
	sectionManifest = 1 + iota
	sectionReport
	sectionWeights
)

// ErrStale is wrapped by errors of engine files that a rebuild mends: another format version.
var ErrStale = errors.New("engine is of another version; build it again")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type (
	manifest struct {
		Source   json.RawMessage `json:",omitempty"`
		Origin   *Provenance     `json:",omitempty"`
		Profiles []Profile
		Plans    []storedPlan
	}
	storedPlan struct {
		Target  string
		Profile int
		Symbols []Symbol
		Network json.RawMessage
		Steps   []storedStep
		Slots   []storedSlot
		Memory  MemoryStats
		Code    []storedCode `json:",omitempty"`
	}
	// storedCode is compiled code by its number among the constants.
	storedCode struct {
		Key  string
		Data int
	}
	// storedStep is a Step with its layer and tensors by name.
	storedStep struct {
		Step
		Layer  string       `json:",omitempty"`
		Tensor string       `json:",omitempty"` // that a reformat moves
		Bodies []storedPlan `json:",omitempty"` // whose networks are inside the layer
	}
	storedSlot struct {
		Slot
		Tensor string `json:",omitempty"`
	}
)

// weightStore collects constants and numbers them by their place.
type weightStore struct {
	data  []byte
	seen  map[uint32][]span // by checksum
	index []span            // number -> place; span.size and span.first are length and offset
}

func (w *weightStore) put(b []byte) int {
	sum := crc32.Checksum(b, castagnoli)
	for _, s := range w.seen[sum] {
		if bytes.Equal(w.data[s.first:s.first+s.size], b) {
			return s.last
		}
	}
	w.data = append(w.data, make([]byte, -len(w.data)&(sectionAlign-1))...)
	s := span{size: len(b), first: len(w.data), last: len(w.index)}
	w.data = append(w.data, b...)
	w.index = append(w.index, s)
	w.seen[sum] = append(w.seen[sum], s)
	return s.last
}

// WriteTo writes the engine file.
func (e *Engine) WriteTo(w io.Writer) (int64, error) {
	store, tally := &weightStore{seen: map[uint32][]span{}}, newTally()
	into := func(part *int) func([]byte) int {
		return func(b []byte) int {
			i := store.put(b)
			tally.add(part, i, len(b))
			return i
		}
	}
	m := struct {
		manifest
		Weights [][2]int // offset and length of each constant
	}{manifest: manifest{Profiles: e.Profiles}}
	var err error
	if e.Source != nil {
		if m.Source, err = e.Source.Encode(into(&tally.Source)); err != nil {
			return 0, err
		}
	}
	if e.Origin != (Provenance{}) {
		m.Origin = &e.Origin
	}
	for _, p := range e.Plans {
		sp := storedPlan{Target: p.Target, Profile: p.Profile, Symbols: p.Symbols, Memory: p.Memory}
		if sp.Network, err = p.Network.Encode(into(&tally.Plans)); err != nil {
			return 0, err
		}
		sp.arrange(p)
		for _, c := range p.Code {
			sp.Code = append(sp.Code, storedCode{c.Key, into(&tally.Code)(c.Data)})
		}
		m.Plans = append(m.Plans, sp)
	}
	for _, s := range store.index {
		m.Weights = append(m.Weights, [2]int{s.first, s.size})
	}
	text, err := json.Marshal(m)
	if err != nil {
		return 0, err
	}
	n, err := writeSections(w, []section{{sectionManifest, text}, {sectionReport, e.Report}, {sectionWeights, store.data}})
	if err == nil {
		e.Contents = tally.of(int(n))
	}
	return n, err
}

// IsEngine reports whether a file that begins with these bytes means to be an engine.
func IsEngine(data []byte) bool { return bytes.HasPrefix(data, []byte(engineMagic)) }

// ReadEngine reads an engine file's bytes, which must not change afterwards: constants point into them. Damage, a
// foreign version and ops that are unknown are errors; a foreign target is not, see Load.
func ReadEngine(ops graph.OpSet, data []byte) (e *Engine, err error) {
	defer func() {
		if v := recover(); v != nil { // a file that was made wrong reached an op's own checks
			e, err = nil, fmt.Errorf("the engine contradicts itself: %w", graph.NewFault(v))
		}
	}()
	sections, err := readSections(data)
	if err != nil {
		return nil, err
	}
	var m struct {
		manifest
		Weights [][2]int
	}
	if err := json.Unmarshal(sections[sectionManifest], &m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	store := sections[sectionWeights]
	weights := func(i int) ([]byte, error) { // constant i
		if i < 0 || i >= len(m.Weights) {
			return nil, fmt.Errorf("constant %d of %d", i, len(m.Weights))
		}
		at, n := m.Weights[i][0], m.Weights[i][1]
		if at < 0 || n < 0 || at > len(store) || n > len(store)-at {
			return nil, fmt.Errorf("constant %d lies outside the file", i)
		}
		return store[at : at+n : at+n], nil
	}
	tally := newTally()
	from := func(part *int) func(int) ([]byte, error) {
		return func(i int) ([]byte, error) {
			b, err := weights(i)
			if err == nil {
				tally.add(part, i, len(b))
			}
			return b, err
		}
	}
	e = &Engine{Profiles: m.Profiles, Report: sections[sectionReport]}
	if m.Origin != nil {
		e.Origin = *m.Origin
	}
	if len(m.Source) > 0 {
		if e.Source, err = graph.DecodeNetwork(ops, m.Source, from(&tally.Source)); err != nil {
			return nil, fmt.Errorf("source network: %w", err)
		}
	}
	for i, sp := range m.Plans {
		p, err := sp.decode(ops, from(&tally.Plans), from(&tally.Code))
		if err != nil {
			return nil, fmt.Errorf("plan %d: %w", i, err)
		}
		if p.Profile < 0 || p.Profile >= len(e.Profiles) {
			return nil, fmt.Errorf("plan %d: profile %d of %d", i, p.Profile, len(e.Profiles))
		}
		e.Plans = append(e.Plans, p)
	}
	if len(e.Plans) == 0 {
		return nil, fmt.Errorf("the engine has no plan")
	}
	e.Contents = tally.of(len(data))
	return e, nil
}

func (sp storedPlan) decode(ops graph.OpSet, weights, code func(int) ([]byte, error)) (*Plan, error) {
	p := &Plan{Target: sp.Target, Profile: sp.Profile, Symbols: sp.Symbols, Memory: sp.Memory}
	var err error
	if p.Network, err = graph.DecodeNetwork(ops, sp.Network, weights); err != nil {
		return nil, err
	}
	for _, c := range sp.Code {
		data, err := code(c.Data)
		if err != nil {
			return nil, fmt.Errorf("code %s: %w", c.Key, err)
		}
		p.Code = append(p.Code, kernels.Code{Key: c.Key, Data: data})
	}
	if err := sp.restore(p); err != nil {
		return nil, err
	}
	return p, p.check()
}

// check returns an error where running the plan would read or write outside its memory or out of order. Checksums
// keep damage out; this keeps out files that were made wrong.
func (p *Plan) check() error {
	if p.Memory.Peak < 0 || p.Memory.IO < 0 || p.Memory.Peak > 1<<40 || p.Memory.IO > 1<<40 {
		return fmt.Errorf("memory of %d and %d bytes", p.Memory.Peak, p.Memory.IO)
	}
	for i, s := range p.Slots {
		limit := p.Memory.Peak
		if s.Region == IO {
			limit = p.Memory.IO
		}
		if s.Offset < 0 || s.Size < 0 || s.Offset > limit || s.Size > limit-s.Offset || s.Of >= len(p.Slots) || s.Of == i {
			return fmt.Errorf("slot %d lies outside its region", i)
		}
		if s.First < -1 || s.First > s.Last || s.Last > len(p.Steps) {
			return fmt.Errorf("slot %d is in use from step %d to %d of %d", i, s.First, s.Last, len(p.Steps))
		}
		if s.Tensor == nil {
			continue
		}
		if err := checkDesc(s, p.Env()); err != nil {
			return fmt.Errorf("slot %d (%s): %w", i, s.Tensor.Name, err)
		}
	}
	if err := p.checkOutputs(); err != nil {
		return err
	}
	for i, s := range p.Steps {
		if !s.Reformat {
			if err := s.Layer.CheckShapes(p.Env()); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
			if err := p.checkBodies(s); err != nil {
				return fmt.Errorf("step %d: %w", i, err)
			}
		}
		if len(s.In) != len(s.Layer.Inputs) || len(s.Out) != len(s.Layer.Outputs) || s.Scratch >= len(p.Slots) {
			return fmt.Errorf("step %d does not fit its layer", i)
		}
		for j, in := range s.In {
			t := s.Layer.Inputs[j]
			if in < 0 != (t == nil || t.IsConst()) || in >= len(p.Slots) || in >= 0 && p.Slots[in].Tensor != t {
				return fmt.Errorf("step %d: input %d has slot %d", i, j, in)
			}
		}
		for j, out := range s.Out {
			if out < 0 || out >= len(p.Slots) || p.Slots[out].Tensor != s.Layer.Outputs[j] {
				return fmt.Errorf("step %d: output %d has slot %d", i, j, out)
			}
		}
	}
	return nil
}

// checkOutputs returns an error where an output is in no slot: neither written as such, nor an input or a constant.
func (p *Plan) checkOutputs() error {
	for _, t := range p.Network.Outputs {
		if _, ok := t.Const(); ok {
			continue
		}
		there := func(s Slot) bool { return s.Tensor == t && s.Region == IO && s.Desc.Format == kernels.Linear }
		if !slices.ContainsFunc(p.Slots, there) {
			return fmt.Errorf("output %s has no slot", t.Name)
		}
	}
	return nil
}

// pitched reports whether a format and shape may have the pitch that d says.
func pitched(d kernels.Desc) bool {
	switch d.Format {
	case kernels.NHWC:
		return len(d.Dims) >= 2 && d.Pitch >= d.Width()
	case kernels.Linear:
		return len(d.Dims) >= 3 && d.Pitch >= d.Dims[len(d.Dims)-1]
	}
	return false
}

func checkDesc(s Slot, env map[string]int) error {
	d := s.Desc
	want := graph.EvalDims(s.Tensor.Dims, env)
	if d.Type != s.Tensor.Type || !slices.Equal(d.Dims, want) {
		return fmt.Errorf("%v, the tensor is %s", d, s.Tensor)
	}
	if !d.Format.Known() || d.Batch < 0 || d.Batch > 1<<40 {
		return fmt.Errorf("format %s, batch stride %d", d.Format, d.Batch)
	}
	n := 1
	for _, e := range want {
		if e < 0 || e > 1<<32 || n > 1<<40/max(1, e) {
			return fmt.Errorf("shape %v", want)
		}
		n *= max(1, e)
	}
	if d.Pitch != 0 && (!pitched(d) || n > 1<<58/d.Pitch) {
		return fmt.Errorf("%v with %d elements from pixel to pixel", d, d.Pitch)
	}
	if d.Span() > s.Size {
		return fmt.Errorf("%d bytes in a slot of %d", d.Span(), s.Size)
	}
	return nil
}
