package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/testdata"
)

// options are the flags that commands on a model have in common.
type options struct {
	precision   string
	calibrator  string
	data        string
	calData     string
	items       string
	calItems    string
	size        string
	resize      string
	mean, std   []float32
	scale       float32
	nhwc        bool
	layout      string
	order       string // of channels
	notFinite   bool   // NaN and infinities in data are taken
	shape       []int
	elements    string
	dequantize  []float32
	labels      string
	labelOffset int
	batch       int
	threads     int
	memory      string // --max-memory
	backend     string
	device      string    // that it simulates
	table       []backend // what --backend may name
	others      []string  // what it may name beside
	few         int       // how many items are used where none were asked for; 0: all
	cache       string
	codes       string // the folder of compiled code
	seed        uint64
	layers      []string
	constraints string
	disable     []string
	pins, bans  []string // of tactics
	shapes      string
	configPath  string
	file        *sessions.ConfigFile // that is at configPath, once it was read
	anew        bool                 // several calibrators are compared: on the same data, whatever an engine has
	dataShapes  map[string][]int     // of inputs, where a model needs shapes and data has them
	until       int
	format      string
	quiet       bool
	verbose     bool
	randomItems int
	lookOnly    bool                       // the model is looked at and not run: it needs neither data nor shapes
	partly      bool                       // a model of which parts are not supported does: it is looked at
	changed     func(flags ...string) bool // whether one of them was given
}

// register adds the flags to a command.
func (o *options) register(c *cobra.Command) {
	if o.table == nil {
		o.table = backends
	}
	f := c.Flags()
	f.StringVar(&o.precision, "precision", "fp32", "fp32, fp16 or int8; where it is not given, an engine keeps its own and a quantised model is int8")
	f.StringVar(&o.calibrator, "calibrator", "entropy", "minmax, entropy, percentile[:P] or mse")
	f.StringVar(&o.data, "data", "", "evaluation data: .npz, .npy, idx, CIFAR .bin, a folder of images or of ONNX test data")
	f.StringVar(&o.calData, "calib-data", "", "calibration data, in the same forms; default: the evaluation data")
	f.StringVar(&o.items, "items", "", "which items of the data, as in 500-1999 or 100; where times are estimated the first "+strconv.Itoa(fewItems)+" by default")
	f.StringVar(&o.calItems, "calib-items", "", "which items of --calib-data")
	f.StringVar(&o.size, "size", "", "of image data: a square's side, or HEIGHTxWIDTH; default for image files: that of the model's input, 224 where it is open")
	f.StringVar(&o.resize, "resize", "crop", "how image files are brought to --size: crop[:SIDE], which makes the shorter side SIDE (default: 256/224 of the size's longer one) and cuts the middle, or stretch")
	f.Float32SliceVar(&o.mean, "mean", nil, "mean of pixels, for all or each channel, taken off before the division by --std")
	f.Float32SliceVar(&o.std, "std", nil, "standard deviation of pixels, for all or each channel")
	f.Float32Var(&o.scale, "scale", 0, "factor of pixels before --mean; default 1/255")
	f.StringVar(&o.layout, "layout", "nchw", "how the model takes images: nchw or nhwc")
	f.BoolVar(&o.nhwc, "nhwc", false, "as --layout nhwc")
	f.StringVar(&o.order, "channel-order", "rgb", "which colour of images the model takes first: rgb or bgr; --mean and --std are in that order")
	f.BoolVar(&o.notFinite, "allow-not-finite", false, "take data with NaN and infinities, which are errors else")
	f.IntSliceVar(&o.shape, "shape", nil, "shape of one item of a raw file, as in 1,49,10")
	f.StringVar(&o.elements, "type", "", "type of a raw file's elements: f32, u8, i8, ...")
	f.Float32SliceVar(&o.dequantize, "dequantize", nil, "SCALE,ZERO of a raw file's integers")
	f.StringVar(&o.labels, "labels", "", "file of labels where the data has none: a byte an item, idx or .npy")
	f.IntVar(&o.labelOffset, "label-offset", 0, "added to every label: 1 where the model has a class for the background before them")
	f.IntVar(&o.batch, "batch", 1, "value of the model's unbound batch")
	f.IntVar(&o.threads, "threads", 0, "worker threads; default: all processors")
	o.registerMemory(c)
	f.StringVar(&o.backend, "backend", o.table[0].name, backendUsage(o.table))
	o.deviceFlag(c)
	f.StringVar(&o.cache, "timing-cache", defaultCache(), "timing cache file; \"none\" for none")
	o.registerCodes(c)
	f.Uint64Var(&o.seed, "seed", 1, "of the random input that stands in for missing data")
	f.StringSliceVar(&o.layers, "layer-precisions", nil, "precision by layer, as in '*head*:fp32,Conv_3:int8'; later ones win")
	f.StringVar(&o.constraints, "precision-constraints", string(sessions.Prefer), "where a layer cannot have the precision set for it: prefer (a warning), obey (an error) or none (the set precisions are ignored)")
	f.StringArrayVar(&o.disable, "disable", nil, "rules, or places as rule:layer,layer, to switch off, comma separated; trtui inspect passes lists them")
	f.StringArrayVar(&o.pins, "tactic", nil, "the only tactic that a layer may have, as LAYER=TACTIC; may be given again; trtui inspect tactics lists both")
	f.StringArrayVar(&o.bans, "forbid-tactic", nil, "a tactic that no layer may have, or that LAYER may not, as LAYER=TACTIC; @FILE names a file of them, one a line; may be given again")
	f.StringVar(&o.shapes, "shapes", "", "shapes of inputs whose axes are symbols, as in x:1x3x640x640; default: those of the data")
	f.StringVar(&o.configPath, "config", "", "configuration file, as W in the workbench writes it: precisions, calibrator, rules, tactics, shapes; flags go before it")
	f.IntVar(&o.until, "passes-until", 0, "stop after so many passes; 0: all")
	f.StringVar(&o.format, "format", "text", "text or json")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "the log of build and run on standard error: what each stage did and how long it took")
	f.IntVar(&o.randomItems, "random-items", 32, "items of random input where there is no data")
}

// defaultCache is the timing cache's place where none is named.
func defaultCache() string { return ownCache("timing.jsonl") }

// ownCache is a place in the user's folder of what can be made anew; "" where there is none.
func ownCache(name string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "trtui", name)
}

// place is an opened model with what is needed to work on it.
type place struct {
	model *sessions.Model
	work  sessions.Workplace
	close func()
}

// open opens the model at path, or the embedded one where path is empty, and its data.
func (o *options) open(path string) (*place, error) {
	read := openModel
	if o.partly && path != "" {
		read = func(path string) (*sessions.Model, error) { return sessions.LookAtModel(graph.Ops(), path) }
	}
	m, err := read(path)
	if err != nil {
		return nil, err
	}
	own := o.ownBackend(m)
	if own != "" {
		o.backend = own
	}
	p, err := o.equip(m, path == "")
	if err != nil && own != "" {
		err = fmt.Errorf("%s was built for %s: %w; --backend %s chooses its tactics again for another device", m.Name(), own, err, o.table[0].name)
	}
	return p, err
}

// ownBackend returns the backend that an engine was built for, where no other one was asked for and it is to run; "" where
// that is the first of the table, and where it is none of them.
func (o *options) ownBackend(m *sessions.Model) string {
	own := m.BuiltOn()
	if o.lookOnly || o.changed("backend", "backends") || own == o.table[0].name {
		return ""
	}
	for _, b := range o.table {
		if b.name == own {
			return own
		}
	}
	return ""
}

// openModel opens a model or an engine; no path names the embedded model.
func openModel(path string) (*sessions.Model, error) {
	if path == "" {
		return sessions.ParseModel(graph.Ops(), sessions.Embedded, testdata.Model())
	}
	return sessions.OpenModel(graph.Ops(), path)
}

// equip opens what a model is worked on with: timing cache, data, backend.
func (o *options) equip(m *sessions.Model, embedded bool) (*place, error) {
	w := sessions.Workplace{SaveTo: o.cache, Cache: build.NewTimingCache(), Program: programName(), Recalibrate: o.anew || o.changed("calib-data")}
	var err error
	if o.cache == "none" {
		w.SaveTo = ""
	} else if o.cache != "" {
		if cache, err := build.OpenTimingCache(o.cache); err == nil {
			w.Cache = cache
		} else { // nothing is read, and nothing written over what is there
			w.SaveTo, w.CacheError = "", fmt.Errorf("%w; this goes on without it", err)
		}
	}
	if m.Refused == nil { // else nothing is run
		if w.Data, w.CalData, err = o.datasets(m, embedded); err != nil {
			return nil, err
		}
	}
	var closeDevices func()
	if w.Backend, w.Host, closeDevices, err = o.openDevices(o.backend); err != nil {
		return nil, err
	}
	few := o.few
	if w.Backend.Info().Estimated {
		few, w.TapItems = fewItems, fewTaps
	}
	if o.items == "" && few > 0 && w.Data != nil {
		if w.Data, err = sessions.Subset(w.Data, 0, min(few, w.Data.Len())); err != nil {
			closeDevices()
			return nil, err
		}
	}
	return &place{m, w, closeDevices}, nil
}

// warn writes warnings to w: that the timing cache cannot be read, and those of a build.
func (p *place) warn(w io.Writer) {
	p.work.Warn = warner(w)
	if p.work.CacheError != nil {
		p.work.Warn(p.work.CacheError.Error())
	}
}

// with opens the model at path, hands it to use with a runner that reports its progress to stderr, and closes it.
func (o *options) with(path string, stderr io.Writer, use func(*place, *sessions.Runner) error) error {
	p, err := o.open(path)
	if err != nil {
		return err
	}
	defer p.close()
	p.warn(stderr)
	if o.verbose {
		p.work.Log = func(l sessions.LogLine) { fmt.Fprintln(stderr, l) }
	}
	report, stop := o.reporter(stderr)
	defer stop()
	return use(p, sessions.NewRunner(p.model, p.work, report))
}

// datasets opens the data to evaluate and to calibrate on: the embedded model's own, what the flags name, or random
// input.
func (o *options) datasets(m *sessions.Model, embedded bool) (data, cal sessions.Data, err error) {
	if embedded && o.data == "" {
		data = digits{testdata.TestImages(), "1,000 embedded digits"}
	}
	if embedded && o.calData == "" && o.data == "" {
		cal = digits{testdata.CalibrationImages(), "300 embedded digits"}
	}
	if o.data != "" {
		if data, err = o.dataset(m, o.data, o.items); err != nil {
			return nil, nil, err
		}
	}
	if o.calData != "" {
		if cal, err = o.dataset(m, o.calData, o.calItems); err != nil {
			return nil, nil, err
		}
	}
	if shaped := cmp.Or(data, cal); shaped != nil && !embedded {
		if o.dataShapes, err = m.DataShapes(shaped); err != nil {
			return nil, nil, err
		}
	}
	if data == nil {
		env, err := o.symbols(m)
		if o.lookOnly && errors.As(err, new(*sessions.UnboundShapes)) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		set, err := dataset.Random(m.Network.Inputs, env, o.randomItems, o.seed)
		if err != nil && o.lookOnly {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.Name(), err)
		}
		if data, err = set.Bind(m.Network.Inputs); err != nil {
			return nil, nil, err
		}
	}
	if cal == nil {
		cal = data
	}
	if o.data == "" && o.items != "" {
		first, limit, err := dataset.ParseItems(o.items)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("--%w", err)}
		}
		if data, err = sessions.Subset(data, first, limit); err != nil {
			return nil, nil, usageError{err}
		}
	}
	return data, cal, nil
}

// symbols returns the values of dimension symbols of which random input is made, one item at a time.
func (o *options) symbols(m *sessions.Model) (map[string]int, error) {
	cfg, err := o.configFor(m)
	if err != nil {
		return nil, err
	}
	cfg.Batch = 1
	return m.Symbols(m.Shaped(cfg))
}

// pictures returns the size that image data is brought to, zero where it stays as it is, and how.
func (o *options) pictures() (size dataset.Size, how dataset.Resize, err error) {
	if o.changed("size") {
		size, err = dataset.ParseSize(o.size)
	}
	if err == nil {
		how, err = dataset.ParseResize(o.resize)
	}
	if err != nil {
		err = fmt.Errorf("--%w", err)
	}
	return size, how, err
}

// imageSize returns the height and width of the images that a network takes, where its only input, or the shape that is
// given for it, says so.
func imageSize(inputs []*graph.Tensor, shapes map[string][]int, nhwc bool) dataset.Size {
	if len(inputs) != 1 || len(inputs[0].Dims) != 4 {
		return dataset.Size{}
	}
	given := shapes[inputs[0].Name]
	if given == nil {
		given = shapes[""]
	}
	var extents [4]int
	for i, d := range inputs[0].Dims {
		n, fixed := d.IsConst()
		if !fixed && len(given) == 4 {
			n = given[i]
		}
		extents[i] = n
	}
	size := dataset.Size{Height: extents[2], Width: extents[3]}
	if nhwc {
		size = dataset.Size{Height: extents[1], Width: extents[2]}
	}
	if size.Height < 1 || size.Width < 1 {
		return dataset.Size{}
	}
	return size
}

func (o *options) dataset(m *sessions.Model, path, items string) (sessions.Data, error) {
	opt := dataset.Options{Scale: o.scale, Mean: o.mean, Std: o.std, NHWC: o.nhwc || o.layout == "nhwc", BGR: o.order == "bgr", Shape: o.shape, NotFinite: o.notFinite}
	var err error
	if opt.Size, opt.Resize, err = o.pictures(); err != nil {
		return nil, usageError{err}
	}
	shapes, err := parseShapes(o.shapes)
	if err != nil {
		return nil, usageError{err}
	}
	opt.ImageSize = imageSize(m.Network.Inputs, shapes, opt.NHWC)
	if path == o.data {
		opt.Labels, opt.LabelOffset = o.labels, o.labelOffset
	}
	if o.elements != "" {
		if err := opt.Type.UnmarshalText([]byte(o.elements)); err != nil {
			return nil, usageError{fmt.Errorf("--type: %w", err)}
		}
	}
	switch len(o.dequantize) {
	case 0:
	case 2:
		opt.Range = graph.PerTensor(o.dequantize[0], int32(o.dequantize[1]))
	default:
		return nil, usageError{fmt.Errorf("--dequantize %v: want SCALE,ZERO", o.dequantize)}
	}
	if items != "" {
		if opt.First, opt.Limit, err = dataset.ParseItems(items); err != nil {
			flag := "--"
			if path != o.data {
				flag += "calib-"
			}
			return nil, usageError{fmt.Errorf("%s%w", flag, err)}
		}
	}
	set, err := dataset.Open(path, opt)
	if err != nil {
		return nil, err
	}
	return set.Bind(m.Network.Inputs)
}

// modelArg returns the command's model argument, "" where there is none.
func modelArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
