package suite

import (
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// strings are layers that read strings, tell them apart or move them.
func (m *maker) strings() {
	text := func(dims ...int) *graph.Tensor { return m.tensor(numeric.Str, numeric.Range{}, dims...) }
	constant := func(dims ...int) *graph.Tensor {
		t := text(dims...)
		t.Weights = Random(m.rnd, t).Data
		return t
	}
	add := func(name string, l *graph.Layer) { m.add("strings_"+name, l, Tolerance{}) }
	for _, dims := range [][2][]int{{{3, 5}, {5}}, {{2, 1, 4}, {3, 1}}, {{0, 3}, {3}}, {{}, {2}}} {
		add(fmt.Sprintf("concat_%v_%v", dims[0], dims[1]), m.layer(graph.StringConcat, nil, text(dims[0]...), constant(dims[1]...)))
	}
	for _, dims := range [][]int{{}, {7}, {2, 0}, {3, 2, 5}} {
		add(fmt.Sprintf("lower_%v", dims), m.layer(graph.StringCase, graph.StringCaseAttrs{To: graph.CaseLower}, text(dims...)))
		add(fmt.Sprintf("upper_%v", dims), m.layer(graph.StringCase, graph.StringCaseAttrs{To: graph.CaseUpper, Locale: "tr_TR"}, text(dims...)))
		add(fmt.Sprintf("index_%v", dims), m.layer(graph.StringIndex, graph.StringIndexAttrs{Words: graph.Words{"", "a", "ab", "Ünde"}}, text(dims...)))
		add(fmt.Sprintf("match_%v", dims), m.layer(graph.RegexFullMatch, graph.RegexAttrs{Pattern: "[a-z ]*|-?[0-9.]+"}, text(dims...)))
		add(fmt.Sprintf("transpose_%v", dims), m.layer(graph.Transpose, graph.TransposeAttrs{Perm: backwards(len(dims))}, text(dims...)))
		add(fmt.Sprintf("equal_%v", dims), m.layer(ops.Named("Equal"), graph.Elementwise{Program: elementwise.Binary(elementwise.Equal)}, text(dims...), constant()))
		add(fmt.Sprintf("split_%v", dims), m.several(graph.StringSplit, graph.StringSplitAttrs{Delimiter: ",", Splits: -1, Most: 9}, 2, constant(dims...)))
		add(fmt.Sprintf("split_spaces_%v", dims), m.several(graph.StringSplit, graph.StringSplitAttrs{Splits: 1}, 2, constant(dims...)))
	}
	choose := elementwise.Program{Args: 3, Code: []elementwise.Instr{{Op: elementwise.Select, Arg: [3]int{0, 1, 2}}}}
	add("where", m.layer(ops.Named("Where"), graph.Elementwise{Program: choose}, m.tensor(numeric.Bool, numeric.Range{}, 4, 3), text(3), text(4, 1)))
	add("gather", m.layer(graph.Gather, graph.GatherAttrs{Axis: 0}, text(7, 2), m.integers(6, 0, -1)))
	add("joined", m.layer(graph.Concat, graph.ConcatAttrs{Axis: 1}, text(2, 3), text(2, 1)))
	add("unique", m.layer(graph.Unique, graph.UniqueAttrs{Flat: true, Sorted: true}, constant(4, 5)))
	for _, t := range []numeric.DataType{numeric.F32, numeric.F64, numeric.F16, numeric.I8, numeric.U64, numeric.Bool} {
		add("of_"+t.String(), m.layer(graph.Cast, graph.CastAttrs{To: numeric.Str}, m.tensor(t, numeric.Range{}, 3, 5)))
		numbers := &graph.Tensor{Name: "w", Type: numeric.Str, Dims: symbolic.Shape(2, 2), Weights: numeric.Strings([]string{"1", " -2.75 ", "1e2", "0"}, 2, 2).Data}
		add("to_"+t.String(), m.layer(graph.Cast, graph.CastAttrs{To: t}, numbers))
	}
	a := graph.TfIdfAttrs{Shortest: 1, Longest: 2, Skips: 1, Mode: "TF", Starts: []int{0, 2}, Pool: []int{0, 2, 1, 2}, Words: graph.Words{"", "a", "b"}, Places: []int{3, 0, 1}}
	add("tuples", m.layer(graph.TfIdf, a, text(3, 9)))
}

// ops are the built-in ones.
var ops = graph.Ops()

// backwards is the order of axes from the last to the first.
func backwards(rank int) []int {
	perm := make([]int, rank)
	for i := range perm {
		perm[i] = rank - 1 - i
	}
	return perm
}

// several returns a layer of so many outputs.
func (m *maker) several(op *graph.Op, attrs any, outputs int, inputs ...*graph.Tensor) *graph.Layer {
	l := m.layer(op, attrs, inputs...)
	for i := 1; i < outputs; i++ {
		l.Outputs = append(l.Outputs, &graph.Tensor{Name: fmt.Sprint("y", i), Producer: l})
	}
	if err := l.Infer(); err != nil {
		panic(fmt.Sprintf("suite: %v", err))
	}
	return l
}
