package graph

import (
	"fmt"
	"maps"
	"slices"
)

// OpSet is a table of ops by name and by the ONNX operators they import. Plugins add to it.
type OpSet struct {
	byName     map[string]*Op
	byOnnx     map[string]*Op
	composites map[string]*Composite
}

// NewOpSet returns the set of the given ops; see [OpSet.With].
func NewOpSet(ops ...*Op) OpSet {
	return OpSet{}.With(ops...)
}

// With is [OpSet.Plus] for a table that is written down, where none of what it refuses is a question to answer silently: it
// panics.
func (s OpSet) With(ops ...*Op) OpSet {
	r, err := s.Plus(ops...)
	if err != nil {
		panic("graph: " + err.Error())
	}
	return r
}

// Plus returns s and further ops. The error names one that is nil or leaves a property open, and two that have one name or
// import one ONNX operator.
func (s OpSet) Plus(ops ...*Op) (OpSet, error) {
	r := s.clone()
	for i, op := range ops {
		if op == nil {
			return OpSet{}, fmt.Errorf("op %d of %d is nil", i+1, len(ops))
		}
		if err := op.check(); err != nil {
			return OpSet{}, err
		}
		if r.byName[op.Name] != nil {
			return OpSet{}, fmt.Errorf("the op %s stands twice in a set of ops", op.Name)
		}
		r.byName[op.Name] = op
		for _, name := range op.Onnx {
			if other := r.byOnnx[name]; other != nil {
				return OpSet{}, fmt.Errorf("the ops %s and %s both import ONNX's %s", other.Name, op.Name, name)
			}
			if r.composites[name] != nil {
				return OpSet{}, fmt.Errorf("the op %s imports ONNX's %s, which is imported as several layers", op.Name, name)
			}
			r.byOnnx[name] = op
		}
	}
	return r, nil
}

// WithComposites returns s and operators that are imported as several layers, none of which s has yet: it panics.
func (s OpSet) WithComposites(list ...*Composite) OpSet {
	r := s.clone()
	for _, c := range list {
		if r.byOnnx[c.Onnx] != nil || r.composites[c.Onnx] != nil {
			panic("graph: two ways to import ONNX's " + c.Onnx)
		}
		r.composites[c.Onnx] = c
	}
	return r
}

func (s OpSet) clone() OpSet {
	r := OpSet{map[string]*Op{}, map[string]*Op{}, map[string]*Composite{}}
	maps.Copy(r.byName, s.byName)
	maps.Copy(r.byOnnx, s.byOnnx)
	maps.Copy(r.composites, s.composites)
	return r
}

// Named returns the op of that name, or nil.
func (s OpSet) Named(name string) *Op { return s.byName[name] }

// Onnx returns the op that imports the ONNX operator, or nil.
func (s OpSet) Onnx(domain, name string) *Op {
	return s.byOnnx[onnxName(domain, name)]
}

// Composite returns how the ONNX operator is imported as several layers, or nil.
func (s OpSet) Composite(domain, name string) *Composite { return s.composites[onnxName(domain, name)] }

// Composites returns the operators that are imported as several layers, sorted by name.
func (s OpSet) Composites() []*Composite {
	var list []*Composite
	for _, name := range slices.Sorted(maps.Keys(s.composites)) {
		list = append(list, s.composites[name])
	}
	return list
}

func onnxName(domain, name string) string {
	if domain != "" && domain != "ai.onnx" {
		return domain + ":" + name
	}
	return name
}

// All returns the ops sorted by name.
func (s OpSet) All() []*Op {
	var ops []*Op
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		ops = append(ops, s.byName[name])
	}
	return ops
}
