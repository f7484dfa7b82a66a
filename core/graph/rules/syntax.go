package rules

import (
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// File is the rules of one file.
type File struct {
	Name   string // what the pass is called: the file's name without its ending
	Before string // the standard pass that it precedes; empty: all of them, on the network as it was imported
	Rules  []*Rule
}

// Rule is one rewrite.
type Rule struct {
	Name, Doc string
	Line      int
	Match     []Statement // the last one makes a result
	Where     []Condition
	Replace   []Statement // the last one makes a result; all have their names in Match

	pattern *pattern
}

// Statement gives names to the outputs of a layer, or another one to a tensor.
type Statement struct {
	At    Position
	Names []string
	Value Term
}

// Position is a place in a file; both count from 1.
type Position struct{ Line, Column int }

// TermKind says what a term is.
type TermKind uint8

// The kinds of terms.
const (
	TensorTerm   TermKind = iota // a name
	LayerTerm                    // Conv(x, w) group=1
	ElementTerm                  // add(x, 3): an element-wise operation
	NumberTerm                   // 3: a constant whose elements all are 3
	ListTerm                     // [0 -1]: a constant list of integers
	VariableTerm                 // $c: a constant of one element
	OmittedTerm                  // -: an input that is left out
	ComputedTerm                 // (2*$c): a number, in a replacement
)

// Term is a tensor.
type Term struct {
	At     Position
	Kind   TermKind
	Name   string // of a tensor, an op, an operation, or a variable
	Args   []Term
	Attrs  []Attr
	Number float64
	List   []int
	Expr   *Expr

	op  *graph.Op      // of a LayerTerm
	elt elementwise.Op // of an ElementTerm
}

// Attr is an attribute of a layer and what it is. The attribute "attrs" is all of them that are not named.
type Attr struct {
	At    Position
	Name  string
	Any   bool   // _
	Var   string // $name
	Expr  *Expr  // (name + 1), in a replacement
	Text  string // a word or number, as the network's text has it
	List  []float64
	Lists bool // it is a list, which may be empty
}

// Condition is a form that a tensor must have, or a comparison.
type Condition struct {
	At     Position
	Tensor string // of a form; empty: Test
	Const  bool
	Types  []numeric.DataType // any of these; none: any type
	Shaped bool               // Dims say something
	Dims   []Extent
	Rest   int // where in Dims any number of extents may be; -1: nowhere
	Test   *Expr
}

// Extent is one of a form's extents.
type Extent struct {
	Any  bool
	Name string // that stands for it, the same everywhere in the rule; empty: Size
	Size int
}

// Expr is an expression over numbers: extents and variables.
type Expr struct {
	At    Position
	Op    string // "+", "==", ...; "number", "extent", "variable", "rank"; "neg"
	Name  string
	Value float64
	Args  []*Expr
}
