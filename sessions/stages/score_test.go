package stages

import (
	"math"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/report"
)

// labelled is data of labels alone.
type labelled []int

func (d labelled) Len() int { return len(d) }

func (d labelled) Inputs(int) (map[string]numeric.Value, error) { return nil, nil }

func (d labelled) Labels(i int) []int { return d[i : i+1] }

func (d labelled) Name() string { return "labels" }

func (d labelled) Random() bool { return false }

func newTestScore(labels ...int) *score {
	n := graph.NewNetwork("n")
	n.MarkOutput(n.NewTensor("y", numeric.F32, []symbolic.Dim{symbolic.Const(1), symbolic.Const(3)}))
	return newScore(n, labelled(labels), 1, Task{})
}

func outputs(v ...float32) map[string]numeric.Value {
	return map[string]numeric.Value{"y": numeric.Values(numeric.F32, v, 1, len(v))}
}

// An output with NaN agrees with nothing, itself included, and is right about nothing.
func TestScoreNaN(t *testing.T) {
	nan := float32(math.NaN())
	s := newTestScore(0, 0, 0, 0)
	s.add(0, outputs(3, 1, 2), outputs(3, 1, 2))
	s.add(1, outputs(3, 1, 2), outputs(nan, 1, 2))
	s.add(2, outputs(3, 1, 2), outputs(3, 1, nan))
	s.add(3, outputs(nan, nan, nan), outputs(nan, nan, nan))
	r, n, _ := s.result()
	if n != 4 || r.Agreement != 0.25 || r.Top1 != 0.25 || r.FP32Top1 != 0.75 {
		t.Errorf("%d items, %+v", n, r)
	}
}

// text is data of one item, the classes of whose rows it is.
type text []int

func (d text) Len() int                                     { return 1 }
func (d text) Inputs(int) (map[string]numeric.Value, error) { return nil, nil }
func (d text) Labels(int) []int                             { return d }
func (d text) Name() string                                 { return "text" }
func (d text) Random() bool                                 { return false }

// TestPerplexity: where all of four tokens are as likely it is 4, where the next one has all likelihood 1; rows without a known
// next token count for agreement alone.
func TestPerplexity(t *testing.T) {
	n := graph.NewNetwork("n")
	n.MarkOutput(n.NewTensor("y", numeric.F32, symbolic.Shape(1, 3, 4)))
	s := newScore(n, text{2, 1, -1}, 1, Task{})
	out := func(v ...float32) map[string]numeric.Value {
		return map[string]numeric.Value{"y": numeric.Values(numeric.F32, v, 1, 3, 4)}
	}
	if err := s.checkLabels([]map[string]numeric.Value{out(make([]float32, 12)...)}); err != nil {
		t.Fatal(err)
	}
	s.add(0, out(9, 9, 9, 9, -7, -7, -7, -7, 0, 1, 0, 0), out(0, 0, 999, 0, 0, 999, 0, 0, 1, 0, 0, 0))
	l, items, _ := s.result()
	if items != 1 || l.Tokens != 2 || *l.FP32Perplexity != 4 || *l.Perplexity != 1 || l.Top1 != 1 || l.FP32Top1 != 0 || l.Agreement != 0 {
		t.Errorf("%d items, %+v, perplexities %g and %g", items, l, *l.FP32Perplexity, *l.Perplexity)
	}
	if err := newScore(n, text{2, 1}, 1, Task{}).checkLabels([]map[string]numeric.Value{map[string]numeric.Value{"y": numeric.NewValue(numeric.F32, 1, 3, 4)}}); err != nil {
		t.Error("12 values are two rows of 6", err)
	}
	if err := newScore(n, text{2, 1, 0, 0, 0}, 1, Task{}).checkLabels([]map[string]numeric.Value{map[string]numeric.Value{"y": numeric.NewValue(numeric.F32, 1, 3, 4)}}); err == nil {
		t.Error("12 values are taken for five rows")
	}
	if err := newScore(n, text{2, 4, 0}, 1, Task{}).checkLabels([]map[string]numeric.Value{map[string]numeric.Value{"y": numeric.NewValue(numeric.F32, 1, 3, 4)}}); err == nil {
		t.Error("class 4 of 4 is taken")
	}
}

// TestScoresOfText: of a text those rows count that its data names, and not the hidden states before them.
func TestScoresOfText(t *testing.T) {
	set, err := dataset.New("text", []dataset.Array{{Name: "x", Value: numeric.NewValue(numeric.F32, 1, 2)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	set.Next, set.Scores = [][]int{{1, 2}}, "logits"
	d, err := set.Bind([]*graph.Tensor{{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(1, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	n := graph.NewNetwork("n")
	n.MarkOutput(n.NewTensor("hidden", numeric.F32, symbolic.Shape(1, 2, 4)))
	n.MarkOutput(n.NewTensor("logits", numeric.F32, symbolic.Shape(1, 2, 3)))
	out := map[string]numeric.Value{"hidden": numeric.NewValue(numeric.F32, 1, 2, 4), "logits": numeric.Values(numeric.F32, []float32{0, 9, 0, 0, 0, 9}, 1, 2, 3)}
	s := newScore(n, d, 1, Task{})
	if err := s.checkLabels([]map[string]numeric.Value{out}); err != nil {
		t.Fatal(err)
	}
	s.add(0, out, out)
	if l, _, _ := s.result(); l.Top1 != 1 || l.Agreement != 1 || l.Tokens != 2 {
		t.Errorf("%+v", l)
	}
}

// TestTogether: where the model takes four items at once each counts for itself, and what fills up the last four does not.
func TestTogether(t *testing.T) {
	set, err := dataset.New("five", []dataset.Array{{Name: "x", Value: numeric.NewValue(numeric.F32, 5, 2)}}, []int{0, 1, 2, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	d, err := set.Bind([]*graph.Tensor{{Name: "x", Type: numeric.F32, Dims: symbolic.Shape(4, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	n := graph.NewNetwork("n")
	n.MarkOutput(n.NewTensor("y", numeric.F32, symbolic.Shape(4, 3)))
	all, err := dataset.Subset(d, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	s := newScore(n, all, 1, Task{})
	out := func(classes ...int) map[string]numeric.Value {
		v := numeric.NewValue(numeric.F32, 4, 3)
		for i, c := range classes {
			v.F32()[3*i+c] = 1
		}
		return map[string]numeric.Value{"y": v}
	}
	if err := s.checkLabels([]map[string]numeric.Value{out()}); err != nil {
		t.Fatal(err)
	}
	s.add(0, out(0, 1, 2, 1), out(0, 1, 1, 1))
	s.add(1, out(1, 1, 1, 1), out(1, 0, 0, 0))
	l, _, _ := s.result()
	if s.rows != 5 || l.FP32Top1 != 0.8 || l.Top1 != 0.6 || l.Agreement != 0.8 || l.Perplexity != nil || l.Tokens != 0 {
		t.Errorf("%d rows, %+v", s.rows, l)
	}
}

func TestCheckLabels(t *testing.T) {
	for _, c := range []struct {
		labels []int
		want   string
	}{
		{[]int{0, 2}, ""},
		{[]int{0, 3}, "item 1 has label 3, but output y has 3 classes"},
		{[]int{-1}, "item 0 has label -1"},
	} {
		err := newTestScore(c.labels...).checkLabels([]map[string]numeric.Value{outputs(1, 2, 3)})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.labels, err, c.want)
		}
	}
	if err := newTestScore(1).checkLabels([]map[string]numeric.Value{outputs(1)}); err != nil {
		t.Errorf("one value for each item: %v", err)
	}
}

// TestUnclassed: an output that is no row of scores for each item has no agreement, and says why.
func TestUnclassed(t *testing.T) {
	for _, c := range []struct {
		dims  []int
		batch int
		want  string
	}{
		{[]int{1, 1000}, 1, ""}, {[]int{4, 10}, 4, ""}, {[]int{2, 10, 1, 1}, 2, ""}, {[]int{1000}, 1, ""},
		{[]int{1, 25200, 85}, 1, "no row of scores for each item (o is [1 25200 85])"}, {[]int{100, 6}, 1, "no row of scores for each item (o is [100 6])"},
		{[]int{1, 1}, 1, "no scores of classes (o is one value for each item)"},
	} {
		if got := unclassed("o", c.dims, c.batch); got != c.want {
			t.Errorf("%v by %d: %q, want %q", c.dims, c.batch, got, c.want)
		}
	}
}

// TestPlaces: a row of as many values as another output has rows is no row of classes, as of YuNet, unless a person says that it is,
// and be there labels, which say nothing of boxes; features beside scores change nothing.
func TestPlaces(t *testing.T) {
	type out struct {
		name string
		dims []int
	}
	yunet := []out{{"cls_8", []int{1, 6400, 1}}, {"obj_8", []int{1, 6400, 1}}, {"bbox_8", []int{1, 6400, 4}}}
	for _, c := range []struct {
		outputs []out
		task    Task
		labels  []int
		want    string
	}{
		{yunet, Task{}, nil, report.TaskOutputs},
		{yunet, Task{Kind: report.TaskClasses}, nil, report.TaskClasses},
		{yunet, Task{}, []int{3}, report.TaskOutputs},
		{yunet, Task{}, []int{7000}, report.TaskOutputs},
		{yunet, Task{Kind: report.TaskClasses}, []int{3}, report.TaskClasses},
		{[]out{{"output0", []int{1, 84, 8400}}}, Task{}, []int{3}, report.TaskOutputs},
		{[]out{{"logits", []int{1, 1000}}, {"features", []int{1, 1280}}}, Task{}, []int{3}, report.TaskClasses},
		{[]out{{"scores", []int{1, 100}}, {"boxes", []int{1, 100, 4}}}, Task{}, nil, report.TaskOutputs},
		{[]out{{"pooled", []int{1, 768}}, {"hidden", []int{1, 128, 768}}}, Task{}, nil, report.TaskOutputs},
		{[]out{{"logits", []int{1, 1000}}, {"features", []int{1, 1280}}}, Task{}, nil, report.TaskClasses},
		{[]out{{"logits", []int{1, 1000}}, {"map", []int{1, 64, 7, 7}}}, Task{}, nil, report.TaskClasses},
	} {
		n, values := graph.NewNetwork("n"), map[string]numeric.Value{}
		for _, o := range c.outputs {
			n.MarkOutput(n.NewTensor(o.name, numeric.F32, symbolic.Shape(o.dims...)))
			values[o.name] = numeric.NewValue(numeric.F32, o.dims...)
		}
		s := newScore(n, unlabelled{c.labels}, 1, c.task)
		if err := s.checkLabels([]map[string]numeric.Value{values}); err != nil {
			t.Errorf("%v, labels %v: %v", c.outputs, c.labels, err)
		}
		if err := s.add(0, values, values); err != nil {
			t.Fatal(err)
		}
		l, _, err := s.result()
		if err != nil || s.task.Kind != c.want || (l.Unclassed != "") != (c.want == report.TaskOutputs) {
			t.Errorf("%v, %+v, labels %v: %q, %v, %q", c.outputs, c.task, c.labels, s.task.Kind, err, l.Unclassed)
		}
	}
}

// unlabelled is one item, whose labels may be missing.
type unlabelled struct{ labels []int }

func (unlabelled) Len() int                                     { return 1 }
func (unlabelled) Inputs(int) (map[string]numeric.Value, error) { return nil, nil }
func (d unlabelled) Labels(int) []int                           { return d.labels }
func (unlabelled) Name() string                                 { return "items" }
func (unlabelled) Random() bool                                 { return false }

// Rows of another size than FP32's are none that could be compared; where none is left, it is said why.
func TestScoreUnlike(t *testing.T) {
	s := newTestScore(0, 0)
	s.add(0, outputs(3, 1), outputs(3, 1, 2))
	s.add(1, outputs(3, 1, 2), outputs(3, 1, 2))
	if r, n, err := s.result(); n != 2 || err != nil || r.Agreement != 1 || r.Top1 != 1 || r.Unclassed != "" {
		t.Errorf("%d items, %+v, %v", n, r, err)
	}
	s = newTestScore(0)
	s.add(0, outputs(3, 1, 2), outputs(3, 1))
	if r, n, err := s.result(); n != 1 || err != nil || r.Agreement != -1 || !strings.Contains(r.Unclassed, "[1 2] where FP32's is [1 3]") {
		t.Errorf("%d items, %+v, %v", n, r, err)
	}
}
