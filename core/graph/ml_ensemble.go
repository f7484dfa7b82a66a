package graph

import (
	"fmt"
	"math"

	"github.com/trtui/trtui/core/graph/numeric"
)

// numbers returns the elements of a list of floats or of the tensor that takes its place; wide says that they are F64.
func (n *Node) numbers(name string) (list []float64, wide bool) {
	if v, ok := n.Tensor(name + "_as_tensor"); ok && v.Type.IsFloat() {
		return v.Float64s(), v.Type == numeric.F64
	}
	for _, x := range n.Floats(name) {
		list = append(list, float64(x))
	}
	return list, false
}

// forestOf reads the trees of a TreeEnsembleRegressor or TreeEnsembleClassifier, whose leaves have the given attributes.
func forestOf(n *Node, kind string, targets int) (*forest, error) {
	trees, ids, features := n.Ints("nodes_treeids"), n.Ints("nodes_nodeids"), n.Ints("nodes_featureids")
	modes, yes, no := n.Strings("nodes_modes"), n.Ints("nodes_truenodeids"), n.Ints("nodes_falsenodeids")
	splits, wide := n.numbers("nodes_values")
	missing := n.Ints("nodes_missing_value_tracks_true")
	n.numbers("nodes_hitrates") // which do not matter
	count := len(ids)
	for _, l := range []int{len(trees), len(features), len(modes), len(yes), len(no), len(splits)} {
		if l != count {
			return nil, fmt.Errorf("the attributes of nodes are %d, %d, %d, %d, %d, %d and %d long", count, len(trees), len(features), len(modes), len(yes), len(no), len(splits))
		}
	}
	if count > maxTreeNodes || targets < 1 || targets > maxTreeWeights || len(missing) > 0 && len(missing) != count {
		return nil, fmt.Errorf("%d nodes, %d targets and %d marks of missing values are not supported", count, targets, len(missing))
	}
	f := &forest{wide: wide, targets: targets}
	places, called := map[treeKey]int{}, map[int]bool{}
	var inner []int // of the attributes
	for i, id := range ids {
		key := treeKey{trees[i], id}
		if _, twice := places[key]; twice {
			return nil, fmt.Errorf("tree %d has two nodes %d", trees[i], id)
		}
		if modes[i] == "LEAF" {
			places[key] = ^len(f.leaves)
			f.leaves = append(f.leaves, nil)
		} else {
			places[key] = len(inner)
			inner = append(inner, i)
		}
		if !called[trees[i]] { // the first node of a tree is its root
			called[trees[i]] = true
			f.roots = append(f.roots, places[key])
		}
	}
	f.nodes = make([]treeNode, len(inner))
	for k, i := range inner {
		a, okA := places[treeKey{trees[i], yes[i]}]
		b, okB := places[treeKey{trees[i], no[i]}]
		if !okA || !okB || features[i] < 0 || features[i] > maxExtent {
			return nil, fmt.Errorf("node %d of tree %d: nodes %d and %d of its branches are not there, or its feature %d is not", ids[i], trees[i], yes[i], no[i], features[i])
		}
		node := treeNode{feature: features[i], split: splits[i], missing: len(missing) > 0 && missing[i] != 0, yes: a, no: b}
		var err error
		if f.nodes[k], err = f.branch(node, modes[i], f.more); err != nil {
			return nil, fmt.Errorf("node %d of tree %d: %w", ids[i], trees[i], err)
		}
	}
	return f, f.weigh(n, kind, places)
}

// more adds a node.
func (f *forest) more(n treeNode) int {
	f.nodes = append(f.nodes, n)
	return len(f.nodes) - 1
}

// weigh gives the leaves their weights.
func (f *forest) weigh(n *Node, kind string, places map[treeKey]int) error {
	trees, ids, targets := n.Ints(kind+"_treeids"), n.Ints(kind+"_nodeids"), n.Ints(kind+"_ids")
	weights, _ := n.numbers(kind + "_weights")
	if len(trees) != len(ids) || len(targets) != len(ids) || len(weights) != len(ids) {
		return fmt.Errorf("the attributes %s_ are %d, %d, %d and %d long", kind, len(trees), len(ids), len(targets), len(weights))
	}
	for i, id := range ids {
		at, ok := places[treeKey{trees[i], id}]
		if !ok || at >= 0 || targets[i] < 0 || targets[i] >= f.targets {
			return fmt.Errorf("weight %d is of node %d of tree %d and of target %d: no such leaf, or no such target", i, id, trees[i], targets[i])
		}
		f.leaves[^at] = append(f.leaves[^at], leafWeight{targets[i], weights[i]})
	}
	return nil
}

// grown adds the layers of the trees on input 0, and returns what they say of each target [N,targets], in the type of input 0.
func (d *Definition) grown(n *Node, f *forest, how string) (*Tensor, error) {
	x, err := d.rowsOf(n)
	if err != nil {
		return nil, err
	}
	if f.wide {
		x = d.as(x, numeric.F64)
	} else {
		x = d.as(x, numeric.F32)
	}
	features, err := n.extent(0, 1)
	if err != nil {
		return nil, err
	}
	for _, node := range f.nodes {
		if node.feature >= features {
			return nil, fmt.Errorf("a node is of feature %d, and input 0 is %s", node.feature, n.Input(0).TypeString())
		}
	}
	if features == 0 {
		return nil, fmt.Errorf("input 0 is %s, which has no features", n.Input(0).TypeString())
	}
	weights, err := d.walked(x, f)
	if err != nil {
		return nil, err
	}
	return d.aggregated(weights, f, how)
}

// based adds a number to each target, or one to all.
func (d *Definition) based(y *Tensor, base []float64) *Tensor {
	if len(base) == 0 {
		return y
	}
	list := numeric.NewValue(numeric.F32, len(base))
	for i, b := range base {
		list.F32()[i] = float32(b)
	}
	return d.Add(y, d.as(d.table("base", list), y.Type))
}

// treeRegressor is what decision trees say of each target, added up or taken together otherwise.
func treeRegressor(d *Definition, n *Node) ([]*Tensor, error) {
	f, err := forestOf(n, "target", n.Int("n_targets", 1))
	if err != nil {
		return nil, err
	}
	base, _ := n.numbers("base_values")
	if len(base) > 0 && len(base) != f.targets {
		return nil, fmt.Errorf("%d base_values for %d targets", len(base), f.targets)
	}
	y, err := d.grown(n, f, n.String("aggregate_function", "SUM"))
	if err != nil {
		return nil, err
	}
	y, err = d.transformed(d.based(d.as(y, numeric.F32), base), n.String("post_transform", "NONE"))
	return []*Tensor{y}, err
}

// treeClassifier is the class of which decision trees have the largest sum, and the sums of all. Of two classes whose weights are all
// of the first one the sum is that of the second: of weights that are none below 0 a probability, and of others a distance.
func treeClassifier(d *Definition, n *Node) ([]*Tensor, error) {
	labels, err := classLabels(n, "classlabels_int64s")
	if err != nil {
		return nil, err
	}
	f, err := forestOf(n, "class", labels.Len())
	if err != nil {
		return nil, err
	}
	base, _ := n.numbers("base_values")
	transform := n.String("post_transform", "NONE")
	given, least := f.weightOf()
	if labels.Len() == 2 && len(given) == 1 {
		return d.binaryTrees(n, f, labels, base, transform, given[0], least)
	}
	if len(base) > 0 && (len(base) != labels.Len() || labels.Len() == 2) {
		return nil, fmt.Errorf("%d base_values for %d classes are not supported", len(base), labels.Len())
	}
	sums, err := d.grown(n, f, "SUM")
	if err != nil {
		return nil, err
	}
	sums = d.based(d.as(sums, numeric.F32), base)
	y, err := d.transformed(sums, transform)
	return []*Tensor{d.labelled(sums, labels), y}, err
}

// binaryTrees are those of two classes of which only one has weights.
func (d *Definition) binaryTrees(n *Node, f *forest, labels numeric.Value, base []float64, transform string, first bool, least float64) ([]*Tensor, error) {
	if transform != "NONE" && transform != "LOGISTIC" {
		return nil, fmt.Errorf("post_transform %q of two classes with weights of one is not supported; NONE and LOGISTIC are", transform)
	}
	if !first || len(base) > 1 {
		return nil, fmt.Errorf("two classes with weights of the second alone, or %d base_values for weights of the first alone, are not supported", len(base))
	}
	f.targets = 1
	s, err := d.grown(n, f, "SUM")
	if err != nil {
		return nil, err
	}
	s = d.based(d.as(s, numeric.F32), base)
	number := func(x float32) *Tensor { return d.table("number", numeric.Values(numeric.F32, []float32{x})) }
	split, other := float32(0), d.Neg(s)
	if least >= 0 {
		split = 0.5
		if transform == "NONE" {
			other = d.Sub(number(1), s)
		}
	}
	y := d.Concat(1, other, s)
	if transform == "LOGISTIC" {
		y = d.Sigmoid(y)
	}
	return []*Tensor{d.positive(d.Greater(s, number(split)), labels), y}, nil
}

// The numbers of TreeEnsemble's enumerations.
var (
	treeModes      = []string{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"}
	treeAggregates = []string{"AVERAGE", "SUM", "MIN", "MAX"}
	treeTransforms = []string{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}
)

// named returns the name of a number of an enumeration.
func named(list []string, what string, i int) (string, error) {
	if i < 0 || i >= len(list) {
		return "", fmt.Errorf("%s %d is unknown", what, i)
	}
	return list[i], nil
}

// treeEnsemble is the newer form of trees. A node that asks whether a feature is one of a set becomes one for each element.
func treeEnsemble(d *Definition, n *Node) ([]*Tensor, error) {
	how, err := named(treeAggregates, "aggregate_function", n.Int("aggregate_function", 1))
	if err != nil {
		return nil, err
	}
	transform, err := named(treeTransforms, "post_transform", n.Int("post_transform", 0))
	if err != nil {
		return nil, err
	}
	f, err := newForest(n)
	if err != nil {
		return nil, err
	}
	y, err := d.grown(n, f, how)
	if err != nil {
		return nil, err
	}
	y, err = d.transformed(y, transform)
	return []*Tensor{y}, err
}

// newForest reads the trees of a TreeEnsemble.
func newForest(n *Node) (*forest, error) {
	roots, features := n.Ints("tree_roots"), n.Ints("nodes_featureids")
	splits, _ := n.Tensor("nodes_splits")
	modes, _ := n.Tensor("nodes_modes")
	weights, _ := n.Tensor("leaf_weights")
	members, _ := n.Tensor("membership_values")
	n.Tensor("nodes_hitrates")
	yes, no := n.Ints("nodes_truenodeids"), n.Ints("nodes_falsenodeids")
	yesLeaf, noLeaf := n.Ints("nodes_trueleafs"), n.Ints("nodes_falseleafs")
	missing, targets := n.Ints("nodes_missing_value_tracks_true"), n.Ints("leaf_targetids")
	count := len(features)
	for _, l := range []int{splits.Len(), modes.Len(), len(yes), len(no), len(yesLeaf), len(noLeaf)} {
		if l != count || count > maxTreeNodes {
			return nil, fmt.Errorf("the attributes of %d nodes are not as many, or more than %d", count, maxTreeNodes)
		}
	}
	if !splits.Type.IsFloat() || !weights.Type.IsFloat() || modes.Type != numeric.U8 || weights.Len() != len(targets) || len(missing) > 0 && len(missing) != count {
		return nil, fmt.Errorf("nodes_splits, nodes_modes, leaf_weights, leaf_targetids or nodes_missing_value_tracks_true do not fit")
	}
	f := &forest{wide: splits.Type == numeric.F64, targets: n.Int("n_targets", 1), nodes: make([]treeNode, count)}
	if f.targets < 1 || f.targets > maxTreeWeights {
		return nil, fmt.Errorf("n_targets is %d", f.targets)
	}
	for i, w := range weights.Float64s() {
		if targets[i] < 0 || targets[i] >= f.targets {
			return nil, fmt.Errorf("leaf %d is of target %d of %d", i, targets[i], f.targets)
		}
		f.leaves = append(f.leaves, []leafWeight{{targets[i], w}})
	}
	sets := setsOf(members)
	split := splits.Float64s()
	place := func(id, leaf int) int {
		if leaf != 0 {
			return ^id
		}
		return id
	}
	for i := range count {
		node := treeNode{feature: features[i], split: split[i], missing: len(missing) > 0 && missing[i] != 0, yes: place(yes[i], yesLeaf[i]), no: place(no[i], noLeaf[i])}
		mode, err := named(treeModes, "mode", int(modes.Data[i]))
		if err == nil && (yes[i] < 0 || no[i] < 0 || features[i] < 0 || features[i] > maxExtent) {
			err = fmt.Errorf("feature %d and branches to %d and %d", features[i], yes[i], no[i])
		}
		if err == nil && mode == "BRANCH_MEMBER" {
			if len(sets) == 0 {
				return nil, fmt.Errorf("node %d: membership_values has no set for it", i)
			}
			f.nodes[i], err = f.member(node, sets[0])
			sets = sets[1:]
		} else if err == nil {
			f.nodes[i], err = f.branch(node, mode, f.more)
		}
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i, err)
		}
	}
	for _, r := range roots {
		if r < 0 || r >= count {
			return nil, fmt.Errorf("tree_roots has %d, and there are %d nodes", r, count)
		}
		f.roots = append(f.roots, r)
	}
	return f, nil
}

// setsOf returns the sets of membership_values, between which lies NaN.
func setsOf(v numeric.Value) (sets [][]float64) {
	if !v.Type.IsFloat() {
		return nil
	}
	var set []float64
	for _, x := range v.Float64s() {
		if math.IsNaN(x) {
			sets, set = append(sets, set), nil
		} else {
			set = append(set, x)
		}
	}
	if len(set) > 0 {
		sets = append(sets, set)
	}
	return sets
}

// member returns the first of the nodes that go to yes for each element of a set, and to no for all else.
func (f *forest) member(n treeNode, set []float64) (treeNode, error) {
	if len(set) == 0 {
		return n, fmt.Errorf("its set is empty")
	}
	rest := n.no
	for i := len(set) - 1; ; i-- {
		at, err := f.branch(treeNode{feature: n.feature, split: set[i], missing: n.missing, yes: n.yes, no: rest}, "BRANCH_EQ", f.more)
		if err != nil || i == 0 {
			return at, err
		}
		rest = f.more(at)
	}
}
