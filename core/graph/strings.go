package graph

import (
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// evalOp is the op's Eval, which sees strings in the form that it wants.
func (l *Layer) evalOp(in, out []numeric.Value) error {
	strings := func(v numeric.Value) bool { return v.Type == numeric.Str }
	if l.Op.Strings == StringsRead || l.Op.Class == ClassControl || !slices.ContainsFunc(in, strings) && !slices.ContainsFunc(out, strings) {
		return l.Op.Eval(l, in, out)
	}
	n := newNumbered(in, l.Op.Strings == StringsOrdered || l.Op.Class != ClassMove)
	results := slices.Clone(out)
	for i, v := range out {
		if strings(v) {
			results[i] = numeric.NewValue(numeric.I64, v.Dims...)
		}
	}
	if err := l.Op.Eval(l, n.in, results); err != nil {
		return err
	}
	for i, v := range out {
		if strings(v) {
			out[i] = n.strings(results[i])
		}
	}
	return nil
}

// numbered are values in which strings are numbers.
type numbered struct {
	in   []numeric.Value
	list []string // by number; the first is empty
}

// newNumbered numbers the strings in values: by their order, equal ones alike, or only each.
func newNumbered(values []numeric.Value, ordered bool) numbered {
	n := numbered{in: slices.Clone(values), list: []string{""}}
	for i, v := range values {
		if v.Type != numeric.Str {
			continue
		}
		list := v.Strings()
		n.in[i] = numeric.NewValue(numeric.I64, v.Dims...)
		for k := range list {
			n.in[i].I64()[k] = int64(len(n.list) + k)
		}
		n.list = append(n.list, list...)
	}
	if !ordered {
		return n
	}
	all := n.list
	n.list = slices.Clone(all)
	slices.Sort(n.list)
	n.list = slices.Compact(n.list)
	for i, v := range values {
		if v.Type != numeric.Str {
			continue
		}
		numbers := n.in[i].I64()
		for k, at := range numbers {
			place, _ := slices.BinarySearch(n.list, all[at])
			numbers[k] = int64(place)
		}
	}
	return n
}

// strings returns the strings that numbers stand for.
func (n numbered) strings(v numeric.Value) numeric.Value {
	list := make([]string, v.Len())
	for i, at := range v.I64() {
		list[i] = n.list[at]
	}
	return numeric.Strings(list, v.Dims...)
}

// pieces are values of which a loop takes a place on an axis at a time, or that it puts together so: strings as numbers until then.
type pieces struct {
	table   numeric.StringTable
	values  []numeric.Value
	strings []bool // those of them that are
}

// newPieces returns the pieces of values; it puts them together where they are results.
func newPieces(values []numeric.Value) (*pieces, error) {
	p := &pieces{values: slices.Clone(values), strings: make([]bool, len(values))}
	for i, v := range values {
		if p.strings[i] = v.Type == numeric.Str; p.strings[i] {
			var err error
			if p.values[i], err = p.table.Numbers(v); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// take returns a place on an axis of value i, without that axis.
func (p *pieces) take(i, axis, place int) (numeric.Value, error) {
	v := take(p.values[i], axis, place)
	if p.strings[i] {
		return p.table.Strings(v)
	}
	return v, nil
}

// put copies a value to a place on an axis of value i.
func (p *pieces) put(i int, v numeric.Value, axis, place int) error {
	if p.strings[i] {
		if v.Type != numeric.Str {
			return fmt.Errorf("%s%v is no part of strings", v.Type, v.Dims)
		}
		var err error
		if v, err = p.table.Numbers(v); err != nil {
			return err
		}
	}
	return put(p.values[i], v, axis, place)
}

// give sets the results that strings were put together to.
func (p *pieces) give(results []numeric.Value) (err error) {
	for i := range results {
		if p.strings[i] && err == nil {
			results[i], err = p.table.Strings(p.values[i])
		}
	}
	return err
}
