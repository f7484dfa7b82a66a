package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/reduce"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/ui"
)

func debugCommand(t tables) *cobra.Command {
	c := &cobra.Command{
		Use:     "debug",
		Short:   "Find what is wrong with a model: reduce makes it small",
		Example: examples("the smallest model that two backends compute differently", "trtui debug reduce model.onnx -o small.onnx"),
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError{errors.New("debug needs a subcommand: reduce")}
		},
	}
	c.AddCommand(reduceCommand(t))
	return c
}

// reduceFlags are the flags of trtui debug reduce.
type reduceFlags struct {
	*modelFlags
	file          string
	check, expect string
	against       string
	backends      []string
	within, limit time.Duration
	changed       func(flag string) bool
	passed        []string // flags that are for trtui run, as they were given
}

// Flags of the command that trtui run has, too, but is not given.
var reduceOwn = []string{"output", "check", "expect", "backends", "against", "time", "limit", "format", "quiet", "verbose", "shapes", "ascii"}

func reduceCommand(t tables) *cobra.Command {
	o := &reduceFlags{modelFlags: onBackends(t)}
	c := &cobra.Command{
		Use:        "reduce MODEL -o SMALL",
		SuggestFor: []string{"shrink", "bisect", "minimize", "minimise", "smallest"},
		Short:      "Make a model small on which something is wrong, as long as that stays wrong",
		Long: "Leave out nodes of an ONNX model from both ends by bisection, then single ones, and make axes short and values and\n" +
			"attributes plain, as long as the same thing stays wrong. That is what trtui run says of the model with --backends: that\n" +
			"outputs differ by more than the tolerance, or an error of the same text but for names and numbers, or a crash. Or else it\n" +
			"is that the command of --check ends with the same exit code, which is not 0: {} in it stands for the model's file, which\n" +
			"else is its last argument, and {data} for the folder of its inputs, as ONNX test data.\n\n" +
			"Tensors at which the model is cut become inputs with the values that they have by the layers' definition. The model is\n" +
			"tried on one item, the first of --items. It runs in a process of its own each time. When the time is up, or at Ctrl-C,\n" +
			"the smallest one so far is written, and beside it its inputs, as SMALL.data.",
		Example: examples("where an engine differs from the layers' definition", "trtui debug reduce model.onnx --precision int8 -o small.onnx",
			"where an engine differs from ONNX Runtime", "trtui debug reduce model.onnx --against onnxruntime -o small.onnx",
			"on a GPU", "trtui debug reduce model.onnx --backends cuda,eval --time 30m -o small.onnx",
			"what a program of one's own does not take", "trtui debug reduce model.onnx --check 'python try.py {}' -o small.onnx"),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.changed = c.Flags().Changed
			o.passed = passedOn(c.Flags(), &o.data.group)
			return o.reduce(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), args[0])
		},
		ValidArgsFunction: ending("onnx"),
	}
	o.device.others = outsiders
	o.register(c, takeAll)
	f := c.Flags()
	f.StringVarP(&o.file, "output", "o", "", "the `FILE` of ONNX to write the small model to")
	f.StringVar(&o.check, "check", "", "a `COMMAND` of the shell that fails on the model, in place of trtui run")
	f.StringVar(&o.expect, "expect", "", "`TEXT` that must be in what fails prints")
	f.StringSliceVar(&o.backends, "backends", []string{o.device.table[0].name, evaluation}, "backends that trtui run compares: "+comparedNames(o.device.table))
	f.StringVar(&o.against, "against", "", "the `BACKEND` to compare "+o.device.table[0].name+" with: --against "+ortBackend+" is --backends "+o.device.table[0].name+","+ortBackend)
	new(toleranceFlags).tolerance(f)
	f.DurationVar(&o.within, "time", 10*time.Minute, "how long to look for a smaller model, at most")
	f.DurationVar(&o.limit, "limit", 0, "how long one try may take, which is what is wrong where the model itself takes longer; default: ten times what the model takes")
	under(c, "Failure", append(toleranceNames(), "check", "expect", "backends", "against", "time", "limit")...)
	under(c, outputHeading, "output")
	return c
}

// passedOn returns the flags that were given and are trtui run's, but those of data: a smaller model has other inputs.
func passedOn(flags *pflag.FlagSet, data *group) (list []string) {
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains(reduceOwn, f.Name) || data.lookup(f.Name) != nil {
			return
		}
		values := []string{f.Value.String()}
		if s, ok := f.Value.(pflag.SliceValue); ok {
			values = s.GetSlice()
		}
		for _, v := range values {
			list = append(list, "--"+f.Name+"="+v)
		}
	})
	return list
}

func (o *reduceFlags) checkReduce() error {
	switch {
	case o.file == "":
		return usageError{errors.New("-o is missing: it names the file of ONNX to write")}
	case o.within <= 0:
		return usageError{fmt.Errorf("--time %s: want a time of more than 0", o.within)}
	case o.limit < 0:
		return usageError{fmt.Errorf("--limit %s: want a time of 0 or more", o.limit)}
	}
	if o.against != "" {
		if o.changed("backends") {
			return usageError{errors.New("--against names what to compare with, --backends all of it; give one of the two")}
		}
		o.backends = []string{o.device.table[0].name, o.against}
	}
	for _, name := range o.backends {
		if _, _, err := findBackend(o.device.table, "backends", name, outsiders...); err != nil {
			return err
		}
	}
	return o.modelFlags.check()
}

// spares returns an error where the result has no folder to lie in, or its data would take the place of what is no earlier result:
// before the search, not after it.
func (o *reduceFlags) spares() error {
	if _, err := os.Stat(filepath.Dir(o.file)); err != nil {
		return err
	}
	return replaceable(o.file + ".data")
}

// reduce writes the smallest model that it finds.
func (o *reduceFlags) reduce(ctx context.Context, stdout, stderr io.Writer, path string) error {
	if err := o.checkReduce(); err != nil {
		return err
	}
	if err := o.spares(); err != nil {
		return err
	}
	whole, err := o.read(path)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "trtui-reduce")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	j, err := o.judge(dir, whole)
	if err != nil {
		return err
	}
	r := &report.Reduction{Source: path, File: o.file, Before: sizeOf(whole), Finished: true}
	start := time.Now()
	small, err := o.search(ctx, stderr, j, whole, r)
	if err != nil {
		return err
	}
	r.Elapsed, r.After, r.Nodes = time.Since(start), sizeOf(small), nodesOf(small)
	if r.Inputs, err = writeSmall(o.file, o.file+".data", small); err != nil {
		return err
	}
	r.Command = shellLine(o.args(j, r.File, r.Inputs))
	if o.output.json() {
		return writeReport(stdout, report.Head{}, r)
	}
	writeReduction(stdout, r)
	return nil
}

// search looks for the smallest model, and notes what is wrong with it.
func (o *reduceFlags) search(ctx context.Context, stderr io.Writer, j *judge, whole *reduce.Model, r *report.Reduction) (*reduce.Model, error) {
	told, stop := o.output.reporter(stderr)
	defer stop()
	if told == nil {
		told = func(report.Progress) {}
	}
	told(report.Progress{Phase: "running the model"})
	first, err := j.of(ctx, whole)
	if err != nil {
		return nil, err
	}
	if first == nil {
		return nil, &notFailing{r.Source}
	}
	if o.limit == 0 {
		j.limit = max(10*j.took, 10*time.Second)
	}
	r.Failure = first.text
	var broken error
	s := &reduce.Search{
		Fails: func(ctx context.Context, m *reduce.Model) bool {
			f, err := j.of(ctx, m)
			if err != nil && ctx.Err() == nil {
				broken = err
			}
			if f == nil || f.kind != first.kind {
				return false
			}
			r.Failure = f.text
			return true
		},
		Told: func(p reduce.Progress) {
			r.Tries = p.Tries
			size := sizeOf(p.Best)
			told(report.Progress{Phase: "reducing", Item: fmt.Sprintf("%s, %s, %s", count(p.Tries, "attempt"), count(size.Nodes, "node"), count(size.Elements, "element"))})
		},
	}
	small := s.Run(ctx, whole, o.within)
	r.Finished = !s.Over()
	return small, broken
}

// notFailing says that there is nothing to look for.
type notFailing struct{ model string }

func (e *notFailing) Error() string {
	return "nothing is wrong with " + e.model + " on the item that it was run on"
}

// read reads the model with the inputs of an item.
func (o *reduceFlags) read(path string) (*reduce.Model, error) {
	m, err := o.lookAtModel(path)
	if err != nil {
		return nil, err
	}
	o.data.randomItems = 1
	data, err := o.item(m)
	if err != nil {
		return nil, err
	}
	feeds, err := data.Inputs(0)
	if err != nil {
		return nil, err
	}
	return reduce.Read(path, feeds)
}

// item returns data whose first item the model is tried on. Of a model of which parts are not supported it is random, with
// axes of 1 where they are open.
func (o *reduceFlags) item(m *model.Model) (dataset.Data, error) {
	if m.Refused == nil {
		data, _, err := o.datasets(m, false)
		return data, err
	}
	open, env := map[string]bool{}, map[string]int{}
	for _, t := range m.Network.Inputs {
		for _, d := range t.Dims {
			d.Symbols(open)
		}
	}
	for symbol := range open {
		env[symbol] = 1
	}
	return o.data.random(m, env)
}

// judge returns what tells whether a model fails.
func (o *reduceFlags) judge(dir string, whole *reduce.Model) (*judge, error) {
	j := &judge{dir: dir, own: o.check == "", expect: o.expect, limit: o.limit, names: namesOf(whole)}
	if j.own {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		j.args = func(model, data string) []string { return o.run(self, model, data) }
		return j, nil
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		return nil, fmt.Errorf("--check needs a shell: %w", err)
	}
	j.args = func(model, data string) []string { return []string{shell, "-c", o.checking(model, data)} }
	return j, nil
}

// run returns the command line of trtui run on a model.
func (o *reduceFlags) run(program, model, data string) []string {
	args := []string{program, "run", model}
	if data != "" {
		args = append(args, "--data", data)
	}
	return append(append(args, "--backends", strings.Join(o.backends, ",")), o.passed...)
}

// checking returns the person's command on a model.
func (o *reduceFlags) checking(model, data string) string {
	line := o.check
	if !strings.Contains(line, "{}") {
		line += " {}"
	}
	return strings.NewReplacer("{}", shellWord(model), "{data}", shellWord(data)).Replace(line)
}

// args returns the command line that shows what is wrong with the small model.
func (o *reduceFlags) args(j *judge, model, data string) []string {
	if j.own {
		return o.run("trtui", model, data)
	}
	return []string{"sh", "-c", o.checking(model, data)}
}

// shellLine writes a command line as a shell takes it.
func shellLine(args []string) string {
	if args[0] == "sh" {
		return args[2]
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = shellWord(a)
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for a shell where that is needed.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=,:@%+", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// sizeOf counts what a model has.
func sizeOf(m *reduce.Model) report.ReducedTo {
	r := report.ReducedTo{Nodes: len(m.Nodes)}
	for _, v := range m.Data() {
		r.Elements += v.Len()
	}
	return r
}

// maxNodes is how many nodes are described.
const maxNodes = 1000

// nodesOf describes the nodes of a model.
func nodesOf(m *reduce.Model) []report.ReducedNode {
	known := map[string]numeric.Value{}
	for _, in := range m.Inputs {
		known[in.Name] = in.Feed
	}
	for _, c := range m.Consts {
		known[c.Name] = c.Value
	}
	list := []report.ReducedNode{}
	for _, n := range m.Nodes[:min(len(m.Nodes), maxNodes)] {
		r := report.ReducedNode{Node: n.Name, Op: n.Op, Inputs: []string{}, Outputs: n.Out}
		for _, name := range n.Reads() {
			text := name
			if v, ok := known[name]; ok {
				text += " " + v.Type.String() + strings.ReplaceAll(fmt.Sprint(v.Dims), " ", ",")
			}
			r.Inputs = append(r.Inputs, text)
		}
		list = append(list, r)
	}
	return list
}

// writeReduction prints what is left of a model.
func writeReduction(w io.Writer, r *report.Reduction) {
	fmt.Fprintf(w, "%s: %s\n\n", ui.VisibleName(filepath.Base(r.Source)), ui.VisibleName(r.Failure))
	share := func(after, before int) float64 { return float64(after) / float64(max(before, 1)) }
	writeTable(w, []string{"", ">before", ">after", ""}, [][]string{
		{"nodes", fmt.Sprint(r.Before.Nodes), fmt.Sprint(r.After.Nodes), bar(share(r.After.Nodes, r.Before.Nodes), 40)},
		{"elements", fmt.Sprint(r.Before.Elements), fmt.Sprint(r.After.Elements), bar(share(r.After.Elements, r.Before.Elements), 40)},
	})
	fmt.Fprintln(w)
	var rows [][]string
	for _, n := range r.Nodes[:min(len(r.Nodes), 20)] {
		rows = append(rows, []string{n.Op, n.Node, strings.Join(n.Inputs, ", "), strings.Join(n.Outputs, ", ")})
	}
	writeTable(w, []string{"op", "~node", "inputs", "outputs"}, rows)
	if more := r.After.Nodes - len(rows); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
	ended := "nothing that was tried makes it smaller"
	if !r.Finished {
		ended = "the time was up, or it was stopped: a smaller one may be found"
	}
	fmt.Fprintf(w, "\n%s, %s in %.1f s: %s\n%s\n", ui.VisibleName(r.File), count(r.Tries, "attempt"), r.Elapsed.Seconds(), ended, ui.VisibleName(r.Command))
}
