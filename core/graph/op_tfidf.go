package graph

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// TfIdfAttrs are the attributes of a TfIdf.
type TfIdfAttrs struct {
	Shortest, Longest int // tuples that are counted
	Skips             int // elements that are left out at most between two of a tuple
	Mode              string
	Pool              []int     // tuples one behind the other: those of one element, those of two, ...; of words their places
	Words             Words     // of which the tuples are, if they are of strings
	Starts            []int     // where those of each length begin
	Places            []int     // of the counts of the tuples in the output
	Weights           []float32 // of the tuples; nil: all 1
}

// TfIdf counts the tuples of a pool in each row of x, integers or strings [C] or [B,C]: at every place, and with 0 to Skips elements left out
// between any two of a tuple; tuples of one element count once. y [N] or [B,N] has the count of each tuple at its place: as it is
// (Mode "TF"), times the tuple's weight ("TFIDF"), or that weight where there is any ("IDF").
var TfIdf = &Op{
	Name:    "TfIdfVectorizer",
	Attrs:   TfIdfAttrs{},
	Onnx:    []string{"TfIdfVectorizer"},
	Strings: StringsRead,
	Class:   ClassReduction, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: func(l *Layer, env map[string]int) int64 {
		a, dims := l.Attrs.(TfIdfAttrs), inputDims(l, env)
		return int64(numeric.Count(dims)) * int64(max(1, a.Longest-a.Shortest+1)) * int64(min(a.Skips+1, max(1, dims[len(dims)-1])))
	},
	Infer: inferTfIdf,
	Eval:  evalTfIdf,
	Import: func(n *Node) (any, []*Tensor, error) {
		a := TfIdfAttrs{
			Shortest: n.Int("min_gram_length", 0), Longest: n.Int("max_gram_length", 0), Skips: n.Int("max_skip_count", 0),
			Mode: n.String("mode", ""), Pool: n.Ints("pool_int64s"), Starts: n.Ints("ngram_counts"), Places: n.Ints("ngram_indexes"), Weights: n.Floats("weights"),
		}
		if list := n.Strings("pool_strings"); len(list) > 0 && len(a.Pool) == 0 {
			a.Words, a.Pool = wordsOf(list), make([]int, len(list))
			for i, s := range list {
				a.Pool[i] = a.Words.find(s)
			}
		} else if len(list) > 0 {
			return nil, nil, fmt.Errorf("a pool of integers and one of strings")
		}
		return a, n.Inputs, nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(TfIdfAttrs)
		attrs := Attributes{
			"min_gram_length": a.Shortest, "max_gram_length": a.Longest, "max_skip_count": a.Skips, "mode": a.Mode,
			"ngram_counts": a.Starts, "ngram_indexes": a.Places,
		}
		if a.Words == nil {
			attrs["pool_int64s"] = a.Pool
		} else {
			pool := make([]string, len(a.Pool))
			for i, at := range a.Pool {
				pool[i] = a.Words[at]
			}
			attrs["pool_strings"] = pool
		}
		if a.Weights != nil {
			attrs["weights"] = a.Weights
		}
		return e.Node("TfIdfVectorizer", attrs)
	},
}

// grams returns the part of the pool that has tuples of n elements.
func (a TfIdfAttrs) grams(n int) []int {
	end := len(a.Pool)
	if n < len(a.Starts) {
		end = a.Starts[n]
	}
	return a.Pool[a.Starts[n-1]:end]
}

func (a TfIdfAttrs) check() error {
	switch {
	case a.Shortest < 1 || a.Longest < a.Shortest || a.Longest > len(a.Starts) || a.Skips < 0 || a.Skips > maxExtent:
		return fmt.Errorf("tuples of %d to %d elements with %d left out, in a pool of up to %d", a.Shortest, a.Longest, a.Skips, len(a.Starts))
	case a.Mode != "TF" && a.Mode != "IDF" && a.Mode != "TFIDF":
		return fmt.Errorf("mode %q is unknown; it is TF, IDF or TFIDF", a.Mode)
	case len(a.Starts) == 0 || a.Starts[0] != 0 || !slices.IsSorted(a.Starts) || a.Starts[len(a.Starts)-1] > len(a.Pool):
		return fmt.Errorf("ngram_counts %v do not cut a pool of %d into tuples of 1, 2, ... elements", a.Starts, len(a.Pool))
	case len(a.Places) == 0 || slices.Min(a.Places) < 0 || slices.Max(a.Places) >= maxExtent:
		return fmt.Errorf("ngram_indexes are no list of places")
	}
	tuples := 0
	for n := 1; n <= len(a.Starts); n++ {
		part := a.grams(n)
		if len(part)%n != 0 {
			return fmt.Errorf("the pool has %d elements for tuples of %d", len(part), n)
		}
		tuples += len(part) / n
	}
	if tuples != len(a.Places) {
		return fmt.Errorf("the pool has %d tuples, and ngram_indexes %d places", tuples, len(a.Places))
	}
	if a.Weights != nil && len(a.Weights) != tuples {
		return fmt.Errorf("%d weights for %d tuples", len(a.Weights), tuples)
	}
	if outside := func(at int) bool { return at < 0 || at >= len(a.Words) }; a.Words != nil && slices.ContainsFunc(a.Pool, outside) {
		return fmt.Errorf("the pool has places beyond %d words", len(a.Words))
	}
	return a.Words.check()
}

func inferTfIdf(l *Layer) error {
	x, err := l.need(0)
	if err != nil {
		return err
	}
	a := l.Attrs.(TfIdfAttrs)
	if err := a.check(); err != nil {
		return err
	}
	if want := []numeric.DataType{numeric.I64, numeric.I32}; a.Words == nil && !slices.Contains(want, x.Type) || a.Words != nil && x.Type != numeric.Str ||
		x.Range.IsSet() || len(x.Dims) < 1 || len(x.Dims) > 2 {
		return fmt.Errorf("input %s: want rows of i32 or i64, or of strings where the pool has strings", x.TypeString())
	}
	rows := x.Dims[:len(x.Dims)-1]
	l.Outputs[0].Type, l.Outputs[0].Dims = numeric.F32, append(slices.Clone(rows), symbolic.Const(slices.Max(a.Places)+1))
	return nil
}

// elements returns what is counted: integers, and the places of strings among the words.
func (a TfIdfAttrs) elements(v numeric.Value) []int64 {
	if a.Words == nil {
		return v.Ints()
	}
	list := make([]int64, v.Len())
	for i, s := range v.Strings() {
		list[i] = int64(a.Words.find(s))
	}
	return list
}

func evalTfIdf(l *Layer, in, out []numeric.Value) error {
	a := l.Attrs.(TfIdfAttrs)
	tuples, key := map[string]int{}, []byte(nil)
	for n := 1; n <= len(a.Starts); n++ {
		for part := a.grams(n); len(part) > 0; part = part[n:] {
			key = key[:0]
			for _, v := range part[:n] {
				key = binary.LittleEndian.AppendUint64(key, uint64(v))
			}
			tuples[string(key)] = len(tuples)
		}
	}
	weight := func(tuple int) float32 {
		if a.Mode == "TF" || a.Weights == nil {
			return 1
		}
		return a.Weights[tuple]
	}
	x, length, width := a.elements(in[0]), in[0].Dims[len(in[0].Dims)-1], slices.Max(a.Places)+1
	for y := out[0].F32(); len(y) > 0; x, y = x[length:], y[width:] {
		shortest := a.Shortest
		for apart := 1; apart <= a.Skips+1 && (shortest-1)*apart < length; apart, shortest = apart+1, max(2, shortest) {
			for at := range length - (shortest-1)*apart {
				key = key[:0]
				for n := 1; n <= a.Longest && at+(n-1)*apart < length; n++ {
					key = binary.LittleEndian.AppendUint64(key, uint64(x[at+(n-1)*apart]))
					tuple, ok := tuples[string(key)]
					switch {
					case n < shortest || !ok:
					case a.Mode == "IDF":
						y[a.Places[tuple]] = weight(tuple)
					default:
						y[a.Places[tuple]] += weight(tuple)
					}
				}
			}
		}
	}
	return nil
}
