package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/generate"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
	"github.com/trtui/trtui/ui"
)

// place is an opened model with what is needed to work on it.
type place struct {
	model *model.Model
	work  stages.Workplace
	close func()
	told  func(report.Progress) // takes what is being done; nil: nobody is told

	crowded string   // what is to be said of more threads than processors
	notes   []string // what is to be said of shapes
}

// open opens the model at path, or the embedded one where path is empty, and its data.
func (f *modelFlags) open(path string) (*place, error) {
	read := f.openModel
	if f.partly && path != "" {
		read = f.lookAtModel
	}
	m, err := read(path)
	if err != nil {
		return nil, err
	}
	own := ""
	if !f.lookOnly {
		own = f.device.own(m)
	}
	if own != "" {
		f.device.backend = own
	}
	p, err := f.equip(m, path == "")
	if err != nil && own != "" {
		err = fmt.Errorf("%s was built for %s: %w; --backend %s chooses its tactics again for another device", m.Name(), own, err, f.device.table[0].name)
	}
	return p, err
}

// openTold is open; where that takes long, as of gigabytes on a slow disk, stderr is told.
func (f *modelFlags) openTold(path string, stderr io.Writer) (*place, error) {
	tell, stop := f.output.reporter(stderr)
	defer stop()
	if tell != nil {
		tell(report.Progress{Phase: "opening", Item: path})
	}
	return f.open(path)
}

// openModel opens a model or an engine; no path names the embedded model.
func (f *modelFlags) openModel(path string) (*model.Model, error) {
	return f.equipped(f.imported(path))
}

// imported does without what flags make of a model.
func (f *modelFlags) imported(path string) (*model.Model, error) {
	if path == "" {
		if err := f.sequences.unfit("the built-in one has none"); err != nil {
			return nil, err
		}
		return model.Parse(f.own.ops(), model.Embedded, testdata.Model())
	}
	m, err := model.Import(f.importer(), path)
	return m, f.orBehind(path, err)
}

// asBuilt returns the configuration that an engine was built with, at the shapes that are asked for now, and gives it the program's own
// passes and calibrators and the rules of that time.
func (f *modelFlags) asBuilt(m *model.Model) (config.Config, error) {
	cfg, err := f.config.asBuilt(m, f.data.shapes)
	if err != nil {
		return cfg, err
	}
	m.Passes, m.Calibrators = f.own.Passes, f.own.Calibrators
	m.Rules, _ = model.ReadRules(f.own.ops(), cfg.RuleFiles)
	return cfg, nil
}

// lookAtModel opens a model that need not be run.
func (f *modelFlags) lookAtModel(path string) (*model.Model, error) {
	m, err := model.Look(f.importer(), path)
	return f.equipped(m, f.orBehind(path, err))
}

// equipped gives a model the program's own passes and calibrators, and the rules that are read anew with each model.
func (f *modelFlags) equipped(m *model.Model, err error) (*model.Model, error) {
	if err != nil {
		return nil, err
	}
	if m.Engine != nil {
		if err := f.sequences.unfit("the engine " + m.Name() + " has what it was built with"); err != nil {
			return nil, err
		}
	}
	if f.requantized {
		if err := model.DropQuantization(context.Background(), m); err != nil {
			return nil, usageError{fmt.Errorf("--requantize: %w", err)}
		}
	}
	if err := f.config.useProfileOf(m); err != nil {
		return nil, err
	}
	if err := f.config.readRules(m); err != nil {
		return nil, err
	}
	m.Passes, m.Calibrators, m.Rules = f.own.Passes, f.own.Calibrators, f.config.ruleFiles
	return m, nil
}

// equip opens what a model is worked on with: timing cache, data, backend.
func (f *modelFlags) equip(m *model.Model, embedded bool) (*place, error) {
	w := stages.Workplace{Program: programName(), Rounds: f.rounds, More: f.more, Live: f.live, Recalibrate: f.anew || f.data.changed("calib-data") || f.config.changed("ranges")}
	w.Cache, w.SaveTo, w.CacheError = f.device.timingCache()
	if f.peaks {
		w.Peaks = f.device.peaks()
	}
	data, cal, err := f.runData(m, embedded)
	if err != nil {
		return nil, err
	}
	w.UsualShapes = f.chosen
	var closeDevices func()
	if w.Backend, w.Host, closeDevices, err = f.device.openWithHost(); err != nil {
		return nil, err
	}
	if err := f.feed(&w, data, cal); err != nil {
		closeDevices()
		return nil, err
	}
	return &place{m, w, closeDevices, nil, f.device.crowded(), f.shapeNotes(m)}, nil
}

// runData is datasets for a model that can be run, and nothing for another.
func (f *modelFlags) runData(m *model.Model, embedded bool) (data, cal dataset.Data, err error) {
	if m.Refused != nil {
		return nil, nil, nil
	}
	return f.datasets(m, embedded)
}

// feed gives a workplace its data: of what is to be evaluated, as much as the backend is quick enough for.
func (f *modelFlags) feed(w *stages.Workplace, data, cal dataset.Data) (err error) {
	w.Data, w.CalData = data, cal
	if w.Task, err = stages.ParseTask(f.data.task); err != nil {
		return usageError{err}
	}
	if file := f.config.quantization.file; file != nil && file.HasHistograms() && !f.data.changed("calib-data") { // data tell more
		w.CalData = file.CollectedData()
	}
	few := f.few
	w.TapItems = f.tapItems
	if w.Backend.Info().Estimated {
		few, w.TapItems = fewItems, cmp.Or(f.tapItems, fewTaps)
	}
	if f.data.items == "" && few > 0 && w.Data != nil {
		w.Data, err = dataset.Subset(w.Data, 0, min(few, w.Data.Len()))
	}
	return err
}

// reequip does what reopen does on devices that are opened anew, with the threads that are asked for now.
func (f *modelFlags) reequip(p *place, path string) (*place, error) {
	if err := f.device.check(); err != nil {
		return nil, err
	}
	anew, err := f.reopen(p, path)
	if err != nil {
		return nil, err
	}
	anew.work.Backend, anew.work.Host, anew.close, err = f.device.openWithHost()
	anew.crowded = f.device.crowded()
	return anew, err
}

// reopen opens the model at path anew, on the devices of a place; no path names the embedded model.
func (f *modelFlags) reopen(p *place, path string) (*place, error) {
	read := f.lookAtModel
	if path == "" {
		read = f.openModel
	}
	m, err := read(path)
	if err != nil {
		return nil, err
	}
	data, cal, err := f.runData(m, path == "")
	if err != nil {
		return nil, err
	}
	w := p.work
	w.UsualShapes = f.chosen
	if err := f.feed(&w, data, cal); err != nil {
		return nil, err
	}
	return &place{m, w, p.close, p.told, p.crowded, f.shapeNotes(m)}, nil
}

// datasets opens the data to evaluate and to calibrate on: the embedded model's own, what the flags name, or random
// input. Both are nil where a model is only looked at and needs shapes.
func (f *modelFlags) datasets(m *model.Model, embedded bool) (data, cal dataset.Data, err error) {
	if f.chosen.Of != nil { // for the file as it was
		f.data.shapes, f.chosen = nil, stages.UsualShapes{}
	}
	given, err := f.config.givenShapes()
	if err != nil {
		return nil, nil, usageError{err}
	}
	if f.data.state, err = f.config.stateFor(m); err != nil {
		return nil, nil, err
	}
	f.config.dataMin, f.config.dataMax = nil, nil
	if data, cal, err = f.data.open(m, embedded, given); err != nil {
		return nil, nil, err
	}
	if shaped := cmp.Or(data, cal); shaped != nil && !embedded {
		if f.data.shapes, err = m.DataShapes(shaped); err != nil {
			return nil, nil, err
		}
		f.config.dataMin, f.config.dataMax = model.DataRange(m, shaped, f.data.shapes)
	}
	if data == nil {
		env, err := f.symbols(m, 1)
		if unbound := new(model.UnboundShapes); errors.As(err, &unbound) {
			shapes, what := usualShapes(m.Network)
			if unbound.Fit = shapes; f.usual && shapes != nil {
				f.takeUsualShapes(m, shapes, what)
				env, err = f.symbols(m, 1)
			}
		}
		if f.lookOnly && errors.As(err, new(*model.UnboundShapes)) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		switch {
		case f.data.raw != nil:
			var batch map[string]int
			if batch, err = f.symbols(m, 0); err == nil {
				data, err = f.data.rawInputs(m, env, batch)
			}
		default:
			data, err = f.data.random(m, env)
		}
		if err != nil && f.lookOnly {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if cal == nil {
		cal = data
	}
	data, err = f.data.chosen(data)
	return data, cal, err
}

// symbols returns the values of dimension symbols for a batch, of 1 for data, which are made one item at a time; 0 is the batch that is
// asked for.
func (f *modelFlags) symbols(m *model.Model, batch int) (map[string]int, error) {
	cfg, err := f.configFor(m)
	if err != nil {
		return nil, err
	}
	cfg.Batch = cmp.Or(batch, cfg.Batch)
	return m.Symbols(m.Shaped(cfg))
}

// usualShapes returns the shapes that a model of texts, images or sounds is shown at where nobody gave any, and what they are of; nil
// where none are known that its layers take.
func usualShapes(n *graph.Network) (shapes map[string][]int, what string) {
	if shapes, what = generate.UsualShapes(n); shapes == nil {
		shapes, what = model.UsualShapes(n)
	}
	return shapes, what
}

// takeUsualShapes gives a model the shapes that nobody gave, and keeps what they are of.
func (f *modelFlags) takeUsualShapes(m *model.Model, shapes map[string][]int, what string) {
	f.data.shapes = shapes
	f.chosen.What, f.chosen.Of = what, shapes
	const most = 3 // of inputs that are named: keys and values of the past are two for each layer
	var list []string
	for _, t := range m.Network.Inputs[:min(most, len(shapes))] {
		list = append(list, t.Name+":"+config.TimesText(shapes[t.Name]))
	}
	f.chosen.Text = strings.Join(list, ", ")
	if more := len(shapes) - most; more > 0 {
		f.chosen.Text += fmt.Sprintf(" and %d more inputs", more)
	}
}

// tellUsual says that shapes are those that nobody gave.
func (f *modelFlags) tellUsual(stderr io.Writer) {
	if f.chosen.Of != nil {
		warner(stderr)("no shapes were given: this is of " + f.chosen.String())
	}
}

// warn writes warnings to w: of the machine, that the timing cache cannot be read, of the model's file, and those of a build.
func (p *place) warn(w io.Writer) {
	p.work.Warn = warner(w)
	if p.crowded != "" {
		p.work.Warn(p.crowded)
	}
	for _, note := range p.notes {
		writeNote(w, "%s", note)
	}
	if p.work.CacheError != nil {
		p.work.Warn(p.work.CacheError.Error())
	}
	for _, note := range p.model.Notes {
		p.work.Warn(note)
	}
}

// shapeNotes says which shapes are taken that nobody gave.
func (f *modelFlags) shapeNotes(m *model.Model) (list []string) {
	if _, err := f.configFor(m); err != nil { // it is told where it is used
		return nil
	}
	if f.config.ofData {
		list = append(list, "items of the data differ in shape, and no shapes were given: engines serve "+f.config.rangeText())
	}
	for _, d := range f.config.derived {
		list = append(list, fmt.Sprintf("%s is taken to be %s: %s has the shape %s", d.Symbol, d.Sum, ui.VisibleName(d.Input), config.TimesText(d.Shape)))
	}
	return list
}

// with opens the model at path, hands it to use with a runner that reports its progress to stderr, and closes it.
func (f *modelFlags) with(path string, stderr io.Writer, use func(*place, *sessions.Runner) error) error {
	p, err := f.openTold(path, stderr)
	if err != nil {
		return err
	}
	defer p.close()
	p.warn(stderr)
	if err := f.config.quantization.fit(p.model); err != nil {
		return err
	}
	for _, note := range f.config.quantization.notes() {
		p.work.Warn(note)
	}
	if f.output.verbose {
		p.work.Log = func(l report.LogLine) { fmt.Fprintln(stderr, l) }
	}
	report, stop := f.output.reporter(stderr)
	defer stop()
	p.told = report
	return use(p, sessions.NewRunner(p.model, p.work, report))
}

// modelArg returns the command's model argument, "" where there is none.
func modelArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
