package onnx

import (
	"errors"
	"fmt"
	"strings"
)

// ImportError says everything that keeps a model from being imported.
type ImportError struct {
	File     string    `json:"file"`
	Problems []Problem `json:"problems"` // in the order of the graph
	Damaged  bool      `json:"-"`        // more than parts are not supported: the model cannot be looked at either
}

// Problem is one reason.
type Problem struct {
	Node   string `json:"node,omitempty"` // the node's name, or "#12" by position if it has none; empty if it is not one node's
	Op     string `json:"op,omitempty"`
	Reason string `json:"reason"`
	Long   bool   `json:"-"` // it is that an extent is too long an expression of those of inputs that are open: see Importer.Shapes
	Extent bool   `json:"-"` // it is that data decide an extent, and how large that can be is not given: see Importer.MaxExtent
	Length bool   `json:"-"` // it is that the length of a sequence is not given, or cannot be: see Importer.Lengths and Without
	Input  string `json:"-"` // the input that is a condition which has to be known: see Importer.Constants
	Axes   bool   `json:"-"` // it is that how many axes an input has is not given: see Importer.Axes
}

// NoOperator is the reason why a node of an operator that is not known is not imported.
const NoOperator = "operator is not supported"

var (
	errNoOp   = errors.New(NoOperator)
	errInside = errors.New("what its graphs have is not supported")
	errOpset  = errors.New("the model's operator set is not supported")
)

const (
	maxNamed      = 3   // nodes that are named for one reason
	maxReasons    = 20  // reasons that are listed
	maxCharacters = 400 // of one reason or name
)

// Error lists the reasons as [reasons] does.
func (e *ImportError) Error() string {
	list := reasons(e.Problems)
	text := e.File + " cannot be imported: " + strings.Join(list[:min(maxReasons, len(list))], "; ")
	if more := len(list) - maxReasons; more > 0 {
		text += fmt.Sprintf("; and %d more reasons", more)
	}
	return text
}

// reasons writes each reason once, with its operator, the number of nodes and the names of the first of them.
func reasons(problems []Problem) []string {
	type key struct{ op, reason string }
	var order []key
	nodes := map[key][]string{}
	for _, p := range problems {
		k := key{p.Op, p.Reason}
		if _, ok := nodes[k]; !ok {
			order = append(order, k)
		}
		nodes[k] = append(nodes[k], p.Node)
	}
	var list []string
	for _, k := range order {
		text := cut(k.reason)
		if k.op != "" {
			text = fmt.Sprintf("%s (%s): %s", cut(k.op), nodeList(nodes[k]), text)
		}
		list = append(list, text)
	}
	return list
}

// nodeList prints "node a" or "4 nodes: a, b, c, ...".
func nodeList(names []string) string {
	if len(names) == 1 {
		return "node " + cut(names[0])
	}
	var first []string
	for _, name := range names[:min(maxNamed, len(names))] {
		first = append(first, cut(name))
	}
	list := strings.Join(first, ", ")
	if len(names) > maxNamed {
		list += ", ..."
	}
	return fmt.Sprintf("%d nodes: %s", len(names), list)
}

// cut returns a name or a reason in one line that is not too long.
func cut(s string) string {
	s = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	if len(s) <= maxCharacters {
		return s
	}
	return strings.ToValidUTF8(s[:maxCharacters], "") + "..."
}
