package dataset

import (
	"errors"
	"fmt"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// Data are items to run a network on, one inference's inputs each.
type Data interface {
	Len() int
	// Inputs returns the inputs of item i by name, with a batch of one.
	Inputs(i int) (map[string]numeric.Value, error)
	// Labels returns the classes of item i: one, or of a text one for each token, by the rows of the output. -1 stands for one
	// that is not known; nil: there are none.
	Labels(i int) []int
	// Name says where the items come from, in a few words.
	Name() string
	// Random reports whether the items are made up, so that they say nothing about accuracy.
	Random() bool
}

// OutOfRange adds to the error of a layer that refuses an index which random data made up what that is.
func OutOfRange(d Data, err error) error {
	if d == nil || !d.Random() || !errors.As(err, new(*graph.IndexError)) {
		return err
	}
	return fmt.Errorf("%w: the data is %s, and the graph does not tell which integers fit", err, d.Name())
}

// At returns data for inputs whose symbols have other values, the first n items or all of them where n is 0: what is made up is made
// anew, and other data is as it is.
func At(d Data, env map[string]int, n int) (Data, error) {
	switch d := d.(type) {
	case *Bound:
		if d.Set.anew == nil {
			return d, nil
		}
		if n == 0 {
			n = d.Len() * max(1, d.Set.group)
		}
		s, err := d.Set.anew(env, n)
		if err != nil {
			return nil, err
		}
		return s.Bind(d.inputs)
	case subset:
		all, err := At(d.Data, env, 0)
		return subset{all, d.first, d.n}, err
	case begun:
		all, err := At(d.Data, env, n)
		return begun{all, d.inputs}, err
	}
	return d, nil
}

// Begun returns data whose items have zeros for inputs that d has nothing for: what a state begins with.
func Begun(d Data, inputs []*graph.Tensor) Data { return begun{d, inputs} }

type begun struct {
	Data
	inputs []*graph.Tensor
}

func (b begun) Inputs(i int) (map[string]numeric.Value, error) {
	in, err := b.Data.Inputs(i)
	if err != nil {
		return nil, err
	}
	for _, t := range b.inputs {
		in[t.Name] = numeric.NewValue(t.Type, symbolic.Eval(t.Dims, nil)...) // a batch of one
	}
	return in, nil
}

// Unlike returns the number of the first item of each set of shapes that the items of d have, in order: 0 alone where all are alike.
func Unlike(d Data) []int {
	switch d := d.(type) {
	case *Bound:
		return d.Set.unlike(0, d.Len())
	case subset:
		if all, ok := d.Data.(*Bound); ok {
			return all.Set.unlike(d.first, d.n)
		}
	case begun:
		return Unlike(d.Data)
	}
	return []int{0}
}

// unlike returns the numbers, from first on, of the first of n items that has each set of shapes.
func (s *Set) unlike(first, n int) []int {
	if s.stored == nil {
		return []int{0}
	}
	var list []int
	seen := map[string]bool{}
	for i := range n {
		var shapes [][]int
		for _, v := range s.stored[first+i] {
			shapes = append(shapes, v.Dims)
		}
		if key := fmt.Sprint(shapes); !seen[key] {
			seen[key], list = true, append(list, i)
		}
	}
	return list
}

// Subset returns n items of d from item first on; all that follow where n is 0.
func Subset(d Data, first, n int) (Data, error) {
	rest := d.Len() - first
	if n == 0 {
		n = rest
	}
	if first < 0 || n <= 0 || n > rest {
		return nil, fmt.Errorf("items %d to %d are wanted of %s, which has %d", first, first+max(n, 1)-1, d.Name(), d.Len())
	}
	if n == d.Len() {
		return d, nil
	}
	return subset{d, first, n}, nil
}

// Brought says to which size image files are brought, and how; "" where there are none.
func Brought(d Data) string {
	switch d := d.(type) {
	case *Bound:
		if d.Set.size != (Size{}) {
			return fmt.Sprintf("images of other sizes brought to %s by %s", d.Set.size, d.Set.how)
		}
	case subset:
		return Brought(d.Data)
	case begun:
		return Brought(d.Data)
	}
	return ""
}

// subset is a run of items of other data.
type subset struct {
	Data
	first, n int
}

func (s subset) Len() int { return s.n }

func (s subset) Inputs(i int) (map[string]numeric.Value, error) { return s.Data.Inputs(s.first + i) }

func (s subset) Labels(i int) []int { return s.Data.Labels(s.first + i) }

func (s subset) Name() string {
	if s.first == 0 {
		return fmt.Sprintf("first %d of %s", s.n, s.Data.Name())
	}
	return fmt.Sprintf("items %d-%d of %s", s.first, s.first+s.n-1, s.Data.Name())
}

// Scores returns the output whose rows are scores of the classes that d has; empty: the first of floating type.
func Scores(d Data) string {
	switch d := d.(type) {
	case *Bound:
		return d.Set.Scores
	case subset:
		return Scores(d.Data)
	case begun:
		return Scores(d.Data)
	}
	return ""
}

// Together reports whether each item of d is several of what the data has, with a label of each, since that is what the model takes at once.
func Together(d Data) bool {
	switch d := d.(type) {
	case *Bound:
		return d.Set.group > 0
	case subset:
		return Together(d.Data)
	case begun:
		return Together(d.Data)
	}
	return false
}
