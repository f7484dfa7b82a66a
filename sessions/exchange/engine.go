package exchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// File is a file of another tool.
type File struct {
	Path string
	Data []byte
}

// Engine is what the files of another tool say of one of its engines.
type Engine struct {
	Layers  *LayerInfo
	Profile []ProfileRow
	Times   []QueryTime
	path    string // of the first file
	batch   int
	tool    string // whose engine it is: "TensorRT"
	astray  string // what the profile has of layers that are not described; empty: nothing
	runs    []time.Duration
}

// IsJSON reports whether a file begins as JSON does, as all of these do.
func IsJSON(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// OpenEngine reads the files that trtexec writes of an engine, in any order: layer information, a profile, times of inferences; or a
// profile of ONNX Runtime. What a file is follows from what is in it.
func OpenEngine(files []File) (*Engine, error) {
	e := &Engine{tool: "TensorRT"}
	for _, f := range files {
		if err := e.take(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	if e.Layers == nil && e.Profile == nil {
		return nil, fmt.Errorf("%s has times of inferences alone: name the layer information or the profile beside it", files[0].Path)
	}
	e.path = cmp.Or(e.path, files[0].Path)
	if e.Layers == nil {
		e.Layers = &LayerInfo{Names: true, Format: "a profile of trtexec", own: e.Profile[0].own}
		for _, r := range e.Profile {
			e.Layers.Layers = append(e.Layers.Layers, EngineLayer{Name: r.Name})
		}
	}
	if e.Layers.own {
		e.tool = generator
		e.Layers.Format = "a profile of trtui"
		if !e.Layers.Names {
			e.Layers.Format = "layer information of trtui"
		}
	}
	return e, e.match()
}

// take reads a file by what is in it.
func (e *Engine) take(f File) error {
	data := bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf"))
	again := func(there bool, what string) error {
		if there {
			return fmt.Errorf("%s %w", what, errTwice)
		}
		return nil
	}
	switch kind := kindOf(data); kind {
	case "layers":
		info, err := ParseLayerInfo(data)
		if err != nil {
			return err
		}
		err = again(e.Layers != nil, "layer information")
		e.Layers, e.path = info, f.Path
		return err
	case "profile":
		rows, err := ParseProfile(data)
		if err != nil {
			return err
		}
		err = again(e.Profile != nil, "a profile")
		e.Profile = rows
		return err
	case "times":
		rows, err := ParseTimes(data)
		if err != nil {
			return err
		}
		err = again(e.Times != nil, "a file of times")
		e.Times = rows
		return err
	case "runtime":
		p, err := ParseRuntimeProfile(data)
		if err != nil {
			return err
		}
		err = again(e.Layers != nil || e.Profile != nil, "another engine")
		e.Layers, e.Profile = p.layers()
		e.tool, e.runs = "ONNX Runtime", p.Runs
		return err
	}
	return errUnknown
}

// errUnknown is that a file is of no kind that is read.
var errUnknown = errors.New("it is neither layer information, a profile or times of trtexec, nor a profile of ONNX Runtime")

// errTwice is that files are of more engines than one.
var errTwice = errors.New("was given already")

// IsTwice reports whether an error is that two files of one kind were given: each is of an engine of its own.
func IsTwice(err error) bool { return errors.Is(err, errTwice) }

// IsUnknown reports whether an error is that a file is of no kind that is read.
func IsUnknown(err error) bool { return errors.Is(err, errUnknown) }

// kindOf tells a file by the members of its first objects.
func kindOf(data []byte) string {
	trimmed := bytes.TrimSpace(data)
	if len(trimmed) == 0 {
		return ""
	}
	if trimmed[0] == '{' {
		if bytes.Contains(trimmed[:min(len(trimmed), 1<<20)], []byte(`"Layers"`)) {
			return "layers"
		}
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(trimmed))
	if _, err := d.Token(); err != nil || !d.More() {
		return ""
	}
	for range 3 {
		var first any
		if !d.More() || d.Decode(&first) != nil {
			return ""
		}
		fields, ok := first.(map[string]any)
		if !ok {
			return ""
		}
		for kind, names := range map[string][]string{"layers": {"Name", "LayerType"}, "profile": {"averageMs"}, "times": {"latencyMs"}, "runtime": {"ph", "ts"}} {
			if hasAll(fields, names) {
				return kind
			}
		}
		if _, ok := fields["count"]; !ok {
			return ""
		}
	}
	return ""
}

func hasAll(fields map[string]any, names []string) bool {
	for _, name := range names {
		if _, ok := fields[name]; !ok {
			return false
		}
	}
	return true
}

// match finds out which row of the profile is of which layer: by name, or where no name is right by their order.
func (e *Engine) match() error {
	if e.Profile == nil {
		return nil
	}
	known := map[string]bool{}
	var timed []string
	for _, l := range e.Layers.Layers {
		known[l.Name] = true
		if !l.Untimed() {
			timed = append(timed, l.Name)
		}
	}
	var astray []string
	var all, lost time.Duration
	for _, r := range e.Profile {
		all += r.Median
		if !known[r.Name] {
			lost += r.Median
			astray = append(astray, r.Name)
		}
	}
	if len(astray) < len(e.Profile) {
		if len(astray) > 0 {
			e.astray = fmt.Sprintf("%d of %d layers of the profile, such as %s, are not among those that are described: the files may be of two builds",
				len(astray), len(e.Profile), quoted(astray[0]))
			if all > 0 {
				e.astray += fmt.Sprintf(" (%.0f %% of the time)", 100*float64(lost)/float64(all))
			}
		}
		return nil
	}
	if len(timed) != len(e.Profile) {
		return fmt.Errorf("the profile is of another engine: its %d layers, such as %s, are none of the %d that are described", len(e.Profile), quoted(e.Profile[0].Name), len(timed))
	}
	for i := range e.Profile {
		e.Profile[i].Name = timed[i]
	}
	return nil
}

// Snapshot returns what the files say as reports; those that they say nothing of are nil.
func (e *Engine) Snapshot() *report.Snapshot {
	s := &report.Snapshot{Seq: 1, Schema: report.Schema, Model: e.model(), Passes: e.passes()}
	s.Device = report.Device{Backend: e.tool, Device: "the machine that wrote " + filepath.Base(e.path)}
	s.Config.Precision = e.precision()
	s.Config.Batch = e.batch
	s.Timings = e.timings()
	s.Tactics = e.tactics(s.Timings)
	s.Overview = e.overview(s.Timings)
	return s
}

// tactics returns what each layer is computed by, with its time where there are times: of what else was tried no file tells. Nil where
// no layer has a tactic, as in a profile of ONNX Runtime.
func (e *Engine) tactics(times *report.Timings) *report.Tactics {
	took := map[string]time.Duration{}
	if times != nil {
		for i := range times.Layers {
			took[times.Layers[i].Name] = times.Layers[i].Median
		}
	}
	t := &report.Tactics{}
	for i := range e.Layers.Layers {
		l := &e.Layers.Layers[i]
		if name := l.tactic(); name != "" {
			median, timed := took[l.Name]
			t.Layers = append(t.Layers, report.LayerTactics{Layer: l.Name, Op: layerReport(l).Op, Chosen: name,
				Candidates: []report.Candidate{{Tactic: name, Time: median, Timed: timed, Ratio: 1, Chosen: true}}})
		}
	}
	if len(t.Layers) == 0 {
		return nil
	}
	return t
}

// model describes what was opened.
func (e *Engine) model() *report.Model {
	m := &report.Model{Name: filepath.Base(e.path), Path: e.path, Kind: "engine", Viewed: e.Layers.Format, Ops: map[string]int{}, Stripped: true, ByName: true}
	if e.astray != "" {
		m.Notes = append(m.Notes, e.astray)
	}
	e.batch = 1
	for i, t := range e.Layers.Inputs {
		if i == 0 && len(t.Dims) > 1 && t.Dims[0] > 0 {
			e.batch = t.Dims[0]
		}
		m.Inputs = append(m.Inputs, tensorReport(t))
	}
	for _, t := range e.Layers.Outputs {
		m.Outputs = append(m.Outputs, tensorReport(t))
	}
	for _, t := range e.Layers.Unknown {
		m.Bindings = append(m.Bindings, t.Name)
	}
	for i := range e.Layers.Layers {
		m.ByName = m.ByName && !origin.MatchString(e.Layers.Layers[i].Metadata)
		l := layerReport(&e.Layers.Layers[i])
		m.Layers = append(m.Layers, l)
		m.Ops[l.Op]++
		m.FLOPs += l.FLOPs
	}
	return m
}

// passes is what fusion left: which layers of the model are in which of the engine. What was removed no file tells.
func (e *Engine) passes() *report.Passes {
	p := &report.Passes{}
	seen := map[string]bool{}
	for i := range e.Layers.Layers {
		l := layerReport(&e.Layers.Layers[i])
		p.Engine = append(p.Engine, l)
		for _, name := range l.From {
			if seen[name] {
				continue
			}
			seen[name] = true
			fate := "fused"
			if len(l.From) == 1 {
				fate = "kept"
				p.Kept++
			} else {
				p.Fused++
			}
			op := opOf(name)
			p.Source = append(p.Source, report.Layer{Name: name, Op: op, From: []string{name}, Text: name})
			p.Ledger = append(p.Ledger, report.LedgerEntry{Layer: name, Op: op, Fate: fate, Into: l.Name})
		}
	}
	p.KernelsSaved = len(p.Source) - len(p.Engine)
	return p
}

var trailing = regexp.MustCompile(`[_.]?\d*$`)

// opOf guesses the operator of a layer of the model by its name: exporters put it last, as in "/block/conv/Conv_3".
func opOf(name string) string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	return trailing.ReplaceAllString(name, "")
}

// precision is the least of those that layers compute in, or "?" where no layer tells, as in a profile alone.
func (e *Engine) precision() config.Precision {
	p := config.Precision("?")
	for i := range e.Layers.Layers {
		switch precisionOf(&e.Layers.Layers[i]) {
		case "i8":
			return config.INT8
		case "f16", "bf16":
			p = config.FP16
		case "?":
		default:
			if p == "?" {
				p = config.FP32
			}
		}
	}
	return p
}
