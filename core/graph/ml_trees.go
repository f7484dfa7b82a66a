package graph

import (
	"cmp"
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
)

// forest are decision trees in one form: an inner node goes to yes where its feature is at most split, or is NaN and missing says so,
// and to no otherwise. A node that is negative is the leaf ^node.
type forest struct {
	wide    bool // splits are compared in F64
	roots   []int
	nodes   []treeNode
	leaves  [][]leafWeight
	targets int
}

type treeNode struct {
	feature int
	split   float64
	missing bool
	yes, no int
}

// leafWeight is what a leaf adds to a target.
type leafWeight struct {
	target int
	weight float64
}

// treeKey is how a node is named in attributes.
type treeKey struct{ tree, node int }

// The bounds of a forest. Each level of depth is some layers.
const (
	maxTreeNodes   = 1 << 22
	maxTreeDepth   = 256
	maxTreeWeights = 1 << 25 // elements of the table of weights
)

// below returns the largest number of the type of splits that is less than x.
func (f *forest) below(x float64) float64 {
	if f.wide {
		return math.Nextafter(x, math.Inf(-1))
	}
	return float64(math.Nextafter32(float32(x), float32(math.Inf(-1))))
}

// branch brings a comparison with a split to the one form. A node whose feature equals the split, or not, becomes two: more is where
// the second one goes.
func (f *forest) branch(n treeNode, mode string, more func(treeNode) int) (treeNode, error) {
	if math.IsNaN(n.split) {
		return n, fmt.Errorf("a split is NaN")
	}
	swap := func() { n.yes, n.no, n.missing = n.no, n.yes, !n.missing }
	switch mode {
	case "BRANCH_LEQ":
	case "BRANCH_GT":
		swap()
	case "BRANCH_LT":
		n.split = f.below(n.split)
	case "BRANCH_GTE":
		n.split = f.below(n.split)
		swap()
	case "BRANCH_NEQ", "BRANCH_EQ":
		if mode == "BRANCH_NEQ" { // NaN differs from all splits
			n.yes, n.no, n.missing = n.no, n.yes, false
		}
		less := treeNode{feature: n.feature, split: f.below(n.split), yes: n.no, no: n.yes}
		n.yes = more(less)
	default:
		return n, fmt.Errorf("mode %q of a node is unknown", mode)
	}
	return n, nil
}

// depth returns how many nodes lie on the longest way to a leaf. A branch to what is not there is an error, and so is one that leads
// back.
func (f *forest) depth() (int, error) {
	const open = -1
	depths := make([]int, len(f.nodes)) // 0: not known yet
	var find func(node, level int) (int, error)
	find = func(node, level int) (int, error) {
		switch {
		case node < 0 && ^node < len(f.leaves):
			return 0, nil
		case node < 0 || node >= len(f.nodes):
			return 0, fmt.Errorf("a branch goes to a node that is not there")
		case depths[node] == open:
			return 0, fmt.Errorf("the branches of a tree lead back to a node")
		case depths[node] > 0:
			return depths[node], nil
		case level == maxTreeDepth:
			return 0, fmt.Errorf("a tree is more than %d deep, which is not supported", maxTreeDepth)
		}
		depths[node] = open
		yes, err := find(f.nodes[node].yes, level+1)
		if err != nil {
			return 0, err
		}
		no, err := find(f.nodes[node].no, level+1)
		depths[node] = 1 + max(yes, no)
		return depths[node], err
	}
	most := 0
	for _, r := range f.roots {
		n, err := find(r, 0)
		if err != nil {
			return 0, err
		}
		most = max(most, n)
	}
	if len(f.roots) == 0 || most > maxTreeDepth {
		return 0, fmt.Errorf("%d trees, %d deep; at least one, and at most %d deep, are supported", len(f.roots), most, maxTreeDepth)
	}
	return most, nil
}

// weightOf returns what the leaves say of targets: the numbers of those that any leaf has, and the least weight.
func (f *forest) weightOf() (targets map[int]bool, least float64) {
	targets = map[int]bool{}
	least = math.Inf(1)
	for _, leaf := range f.leaves {
		for _, w := range leaf {
			targets[w.target] = true
			least = min(least, w.weight)
		}
	}
	return targets, least
}

// treeTables are a forest's nodes and behind them its leaves, each of which goes to itself, as columns.
type treeTables struct {
	split            numeric.Value
	feature, yes, no []int32
	missing          []uint8
	anyMissing       bool
	weights          numeric.Value // [nodes and leaves, targets]
	roots            []int32
}

func (f *forest) tables(real numeric.DataType) (*treeTables, error) {
	inner, all := len(f.nodes), len(f.nodes)+len(f.leaves)
	if all*f.targets > maxTreeWeights {
		return nil, fmt.Errorf("%d nodes with %d targets each are not supported", all, f.targets)
	}
	t := &treeTables{
		split: numeric.NewValue(real, all), weights: numeric.NewValue(real, all, f.targets),
		feature: make([]int32, all), yes: make([]int32, all), no: make([]int32, all), missing: make([]uint8, all),
	}
	place := func(node int) int32 {
		if node < 0 {
			return int32(inner + ^node)
		}
		return int32(node)
	}
	set := func(v numeric.Value, i int, x float64) {
		if real == numeric.F64 {
			numeric.View[float64](v.Data)[i] = x
		} else {
			v.F32()[i] = float32(x)
		}
	}
	for i, n := range f.nodes {
		t.feature[i], t.yes[i], t.no[i] = int32(n.feature), place(n.yes), place(n.no)
		set(t.split, i, n.split)
		if n.missing {
			t.missing[i], t.anyMissing = 1, true
		}
	}
	for k, leaf := range f.leaves {
		i := inner + k
		t.yes[i], t.no[i] = int32(i), int32(i)
		sums := map[int]float64{}
		for _, w := range leaf {
			sums[w.target] += w.weight
			set(t.weights, i*f.targets+w.target, sums[w.target])
		}
	}
	for _, r := range f.roots {
		t.roots = append(t.roots, place(r))
	}
	return t, nil
}

// walked adds the layers that go through all trees level by level, and returns the weights of the leaves [N,trees,targets].
//
//	x [N,F] -> feature of each tree's place -> at most its split? -> next place, as often as the trees are deep -> weights
func (d *Definition) walked(x *Tensor, f *forest) (*Tensor, error) {
	depth, err := f.depth()
	if err != nil {
		return nil, err
	}
	t, err := f.tables(x.Type)
	if err != nil {
		return nil, err
	}
	whole := func(name string, list []int32) *Tensor {
		return d.table(name, numeric.Values(numeric.I32, list, len(list)))
	}
	feature, split, yes, no := whole("features", t.feature), d.table("splits", t.split), whole("yes", t.yes), whole("no", t.no)
	var missing *Tensor
	if t.anyMissing {
		missing = d.table("missing", numeric.Values(numeric.Bool, t.missing, len(t.missing)))
	}
	at := whole("roots", t.roots)
	for level := range max(1, depth) {
		var value *Tensor
		if here := d.Gather(feature, at, 0); level == 0 {
			value = d.Gather(x, here, 1)
		} else {
			value = d.GatherElements(x, here, 1)
		}
		takes := d.LessOrEqual(value, d.Gather(split, at, 0))
		if t.anyMissing {
			takes = d.Or(takes, d.And(d.IsNaN(value), d.Gather(missing, at, 0)))
		}
		at = d.Where(takes, d.Gather(yes, at, 0), d.Gather(no, at, 0))
	}
	return d.Gather(d.table("weights", t.weights), at, 0), nil
}

// aggregated adds up what the trees say of each target, or takes their mean, least or largest.
func (d *Definition) aggregated(weights *Tensor, f *forest, how string) (*Tensor, error) {
	how = cmp.Or(how, "SUM")
	if how == "MIN" || how == "MAX" {
		for _, leaf := range f.leaves {
			if len(leaf) != f.targets {
				return nil, fmt.Errorf("aggregate_function %s of leaves that do not have each target once is not supported", how)
			}
		}
	}
	op := map[string]*Op{"SUM": ReduceSum, "AVERAGE": ReduceMean, "MIN": ReduceMin, "MAX": ReduceMax}[how]
	if op == nil {
		return nil, fmt.Errorf("aggregate_function %q is unknown", how)
	}
	return d.Reduce(op, weights, false, 1), nil
}
