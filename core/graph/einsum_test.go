package graph

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// einsumCase is an Einsum of random numbers.
type einsumCase struct {
	equation string
	inputs   []numeric.Value
	open     []bool // which extents are symbols, by the code of the letter
	constant []bool // which inputs are constants
}

// run imports the node and evaluates it.
func (c einsumCase) run() (numeric.Value, error) {
	n := NewNetwork("n")
	node := &Node{Name: "node", OpType: "Einsum", Version: 12, Outputs: 1, Attrs: map[string]Attr{"equation": {Kind: AttrString, String: c.equation}}}
	inputs := map[string]numeric.Value{}
	terms := strings.Split(strings.Split(c.equation, "->")[0], ",")
	for i, v := range c.inputs {
		name := fmt.Sprint("x", i)
		if i < len(c.constant) && c.constant[i] {
			node.Inputs = append(node.Inputs, n.AddConst(name, v))
			continue
		}
		dims := symbolic.Shape(v.Dims...)
		for axis, letter := range strings.ReplaceAll(terms[i], " ", "") {
			if c.open != nil && axis < len(dims) && c.open[letter] && v.Dims[axis] != 1 && !strings.Contains(terms[i], ".") {
				dims[axis] = symbolic.Symbol(string(letter))
			}
		}
		node.Inputs = append(node.Inputs, n.AddInput(name, v.Type, dims...))
		inputs[name] = v
	}
	list, errs := Ops().Composite("", "Einsum").Add(n, Ops(), node, []string{"y"}, func(string) bool { return false })
	if len(errs) > 0 {
		return numeric.Value{}, errs[0]
	}
	n.MarkOutput(list[0])
	got, err := n.Eval(context.Background(), inputs, nil)
	return got["y"], err
}

// naive computes an Einsum by its definition: the sum, over all indices of all labels, of the products of elements. No extent
// may be broadcast.
func (c einsumCase) naive(result string) (dims []int, y []float64) {
	terms := strings.Split(strings.Split(c.equation, "->")[0], ",")
	extents, letters := map[rune]int{}, []rune(nil)
	for i, term := range terms {
		for axis, letter := range term {
			if _, ok := extents[letter]; !ok {
				letters = append(letters, letter)
			}
			extents[letter] = c.inputs[i].Dims[axis]
		}
	}
	all := make([]int, len(letters))
	for i, letter := range letters {
		all[i] = extents[letter]
	}
	for _, letter := range result {
		dims = append(dims, extents[letter])
	}
	y = make([]float64, numeric.Count(dims))
	for e := range numeric.Count(all) {
		index := map[rune]int{}
		for i, p := range unravel(e, all) {
			index[letters[i]] = p
		}
		product := 1.0
		for i, term := range terms {
			at := 0
			for axis, letter := range term {
				at = at*c.inputs[i].Dims[axis] + index[letter]
			}
			product *= float64(c.inputs[i].F32()[at])
		}
		at := 0
		for _, letter := range result {
			at = at*extents[letter] + index[letter]
		}
		y[at] += product
	}
	return dims, y
}

// TestEinsum compares random equations with their definition: diagonals, sums, any number of operands, open and no extents.
func TestEinsum(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 3000 {
		var c einsumCase
		extents := map[byte]int{}
		for _, letter := range []byte("abcdE") {
			extents[letter] = []int{1, 2, 3, 4, 3, 2, 0}[rnd.IntN(6+rnd.IntN(12)/11)]
		}
		c.open = make([]bool, 'z'+1)
		for letter := range extents {
			c.open[letter] = rnd.IntN(3) == 0
		}
		var used, terms []string
		for range 1 + rnd.IntN(4) {
			term, dims := "", []int{}
			for range rnd.IntN(5) {
				letter := "abcdE"[rnd.IntN(5)]
				if strings.Contains(term, string(letter)) && (c.open[letter] || rnd.IntN(2) == 0) {
					continue
				}
				term, dims = term+string(letter), append(dims, extents[letter])
				if !slices.Contains(used, string(letter)) {
					used = append(used, string(letter))
				}
			}
			v := numeric.NewValue(numeric.F32, dims...)
			for i := range v.F32() {
				v.F32()[i] = float32(rnd.IntN(9) - 4)
			}
			terms, c.inputs, c.constant = append(terms, term), append(c.inputs, v), append(c.constant, rnd.IntN(4) == 0)
		}
		rnd.Shuffle(len(used), func(i, j int) { used[i], used[j] = used[j], used[i] })
		result := strings.Join(used[:rnd.IntN(len(used)+1)], "")
		c.equation = strings.Join(terms, ",") + "->" + result
		got, err := c.run()
		if err != nil {
			t.Fatalf("%s of %v: %v", c.equation, c.inputs, err)
		}
		dims, want := c.naive(result)
		if !slices.Equal(got.Dims, dims) || !slices.Equal(got.Float64s(), want) {
			t.Fatalf("%s of %v:\n%v %v, want %v %v", c.equation, c.inputs, got.Dims, got.Float64s(), dims, want)
		}
	}
}

// TestEinsumForms has ellipses, extents of 1 that are repeated, and results that are not named.
func TestEinsumForms(t *testing.T) {
	count := func(dims ...int) numeric.Value { return distinct(numeric.NewValue(numeric.F32, dims...), 1) }
	for _, c := range []struct {
		equation string
		inputs   []numeric.Value
		like     string // the same with other letters
		dims     []int
	}{
		{"ij", []numeric.Value{count(2, 3)}, "ij->ij", []int{2, 3}},
		{"ba", []numeric.Value{count(2, 3)}, "ba->ab", []int{3, 2}},
		{"aB,B c", []numeric.Value{count(2, 3), count(3, 4)}, "aB,Bc->ac", []int{2, 4}},
		{"ii", []numeric.Value{count(3, 3)}, "ii->", nil},
		{"...ii->...i", []numeric.Value{count(2, 3, 3)}, "aii->ai", []int{2, 3}},
		{"...ij,...jk", []numeric.Value{count(5, 2, 3), count(5, 3, 4)}, "aij,ajk->aik", []int{5, 2, 4}},
		{"i...j->j...", []numeric.Value{count(2, 4, 3)}, "iaj->ja", []int{3, 4}},
		{"...,...", []numeric.Value{count(2, 3), count(2, 3)}, "ab,ab->ab", []int{2, 3}},
		{"...", []numeric.Value{count(2, 3)}, "ab->ab", []int{2, 3}},
		{"i...->...", []numeric.Value{count(4)}, "i->", nil},
		{",", []numeric.Value{count(), count()}, ",->", nil},
	} {
		got, err := einsumCase{equation: c.equation, inputs: c.inputs}.run()
		if err != nil {
			t.Errorf("%s: %v", c.equation, err)
			continue
		}
		_, want := einsumCase{equation: c.like, inputs: c.inputs}.naive(c.like[strings.Index(c.like, ">")+1:])
		if !slices.Equal(got.Dims, c.dims) || !slices.Equal(got.Float64s(), want) {
			t.Errorf("%s: %v %v, want %v %v", c.equation, got.Dims, got.Float64s(), c.dims, want)
		}
	}
	for _, c := range []struct {
		equation  string
		x, y      []int
		wide, all []int // the shapes to which x and y are repeated first
		like      string
	}{
		{"...ij,...jk->...ik", []int{1, 2, 3}, []int{4, 3, 2}, []int{4, 2, 3}, []int{4, 3, 2}, "aij,ajk->aik"},
		{"...i,...i->...", []int{5, 3}, []int{4, 5, 3}, []int{4, 5, 3}, []int{4, 5, 3}, "abi,abi->ab"},
		{"ab,bc->ac", []int{2, 1}, []int{3, 2}, []int{2, 3}, []int{3, 2}, "ab,bc->ac"},
		{"ab,ab->ab", []int{2, 1}, []int{1, 3}, []int{2, 3}, []int{2, 3}, "ab,ab->ab"},
	} {
		x, y := count(c.x...), count(c.y...)
		got, err := einsumCase{equation: c.equation, inputs: []numeric.Value{x, y}}.run()
		if err != nil {
			t.Errorf("%s: %v", c.equation, err)
			continue
		}
		_, want := einsumCase{equation: c.like, inputs: []numeric.Value{repeated(x, c.wide), repeated(y, c.all)}}.naive(c.like[strings.Index(c.like, ">")+1:])
		if !slices.Equal(got.Float64s(), want) {
			t.Errorf("%s: %v, want %v", c.equation, got.Float64s(), want)
		}
	}
}

// repeated returns v broadcast to a shape.
func repeated(v numeric.Value, dims []int) numeric.Value {
	b, err := numeric.NewBroadcast(v.Dims, dims)
	if err != nil {
		panic(err)
	}
	y := numeric.NewValue(numeric.F32, dims...)
	for i := range y.F32() {
		y.F32()[i] = v.F32()[b.At(i)]
	}
	return y
}

func TestEinsumErrors(t *testing.T) {
	x := numeric.NewValue(numeric.F32, 2, 3)
	for equation, want := range map[string]string{
		"i->i":      "names 1",
		"ij,j->i":   "2 operands",
		"i1->i":     "no letter",
		"ij->k":     "no operand has",
		"ij->ii":    "twice",
		"...->":     "the result has none",
		"ijk->ijk":  "names 3",
		"ii->i":     "i has the extents 2 and 3",
		"i.->i":     "no letter",
		"......->i": "no letter",
		"":          "names 0",
	} {
		_, err := einsumCase{equation: equation, inputs: []numeric.Value{x}}.run()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", equation, err, want)
		}
	}
	if _, err := (einsumCase{equation: "ij,jk", inputs: []numeric.Value{x, x}}).run(); err == nil || !strings.Contains(err.Error(), "j has the extents 3 and 2") {
		t.Errorf("%v", err)
	}
}
