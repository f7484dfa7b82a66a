package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"

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

// Profile is an optimisation profile: the shapes of inputs that one plan is timed for, and those that it serves.
type Profile struct {
	Name   string
	Shapes map[string][]int // of each input
	Min    map[string][]int `json:",omitempty"` // the ends of what is served, where that is more than Shapes
	Max    map[string][]int `json:",omitempty"`
}

// DefaultProfile is the name of an engine's first profile; others have their numbers.
const DefaultProfile = "default"

// Add adds a plan with its profile, which is named by its number; the first is the default one. Constants that plans before it
// have too are theirs.
func (e *Engine) Add(p *Plan) {
	e.share(p.Network)
	name := DefaultProfile
	if p.Profile = len(e.Profiles); p.Profile > 0 {
		name = strconv.Itoa(p.Profile)
	}
	e.Profiles, e.Plans = append(e.Profiles, ProfileOf(name, p)), append(e.Plans, p)
}

// share makes the constants of a network those of the plans that have the same bytes, so that they are in memory once.
func (e *Engine) share(n *graph.Network) {
	there := map[uint32][][]byte{} // by checksum
	for i, p := range e.Plans {
		if p.Network == n || slices.ContainsFunc(e.Plans[:i], func(q *Plan) bool { return q.Network == p.Network }) {
			continue
		}
		for _, t := range p.Network.Consts() {
			sum := crc32.Checksum(t.Weights, castagnoli)
			there[sum] = append(there[sum], t.Weights)
		}
	}
	if len(there) == 0 {
		return
	}
	for _, t := range n.Consts() {
		list := there[crc32.Checksum(t.Weights, castagnoli)]
		if i := slices.IndexFunc(list, func(b []byte) bool { return bytes.Equal(b, t.Weights) }); i >= 0 {
			t.Weights = list[i]
		}
	}
}

// ProfileOf returns the profile of a plan.
func ProfileOf(name string, p *Plan) Profile {
	at := func(of func(Symbol) int) map[string][]int {
		env := map[string]int{}
		for _, s := range p.Symbols {
			env[s.Name] = of(s)
		}
		return p.Network.ShapesAt(env)
	}
	profile := Profile{Name: name, Shapes: at(func(s Symbol) int { return s.Value })}
	if p.Ranged() {
		profile.Min = at(func(s Symbol) int { least, _ := s.Range(); return least })
		profile.Max = at(func(s Symbol) int { _, most := s.Range(); return most })
	}
	return profile
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
		Network json.RawMessage `json:",omitempty"`
		Like    *int            `json:",omitempty"` // the number of a plan before it, whose network it has
		Steps   []storedStep
		Slots   []storedSlot
		Forks   []Fork    `json:",omitempty"`
		Dropped []Dropped `json:",omitempty"`
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
	for i, p := range e.Plans {
		sp := storedPlan{Target: p.Target, Profile: p.Profile, Symbols: p.Symbols, Memory: p.Memory, Forks: p.Forks, Dropped: p.Dropped}
		if like := slices.IndexFunc(e.Plans[:i], func(q *Plan) bool { return q.Network == p.Network }); like >= 0 {
			sp.Like = &like
		} else if sp.Network, err = p.Network.Encode(into(&tally.Plans)); err != nil {
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
		var like *graph.Network
		if sp.Like != nil {
			if *sp.Like < 0 || *sp.Like >= i {
				return nil, fmt.Errorf("plan %d has the network of plan %d", i, *sp.Like)
			}
			like = e.Plans[*sp.Like].Network
		}
		p, err := sp.decode(ops, like, from(&tally.Plans), from(&tally.Code))
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

// decode makes the plan, of a network that was read before or of its own.
func (sp storedPlan) decode(ops graph.OpSet, n *graph.Network, weights, code func(int) ([]byte, error)) (*Plan, error) {
	p := &Plan{Target: sp.Target, Profile: sp.Profile, Symbols: sp.Symbols, Memory: sp.Memory, Forks: sp.Forks, Dropped: sp.Dropped, Network: n}
	var err error
	if n == nil {
		if p.Network, err = graph.DecodeNetwork(ops, sp.Network, weights); err != nil {
			return nil, err
		}
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
