package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/detection"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/testdata"
)

const maxRandomItems = 1 << 16

// dataFlags say what a model is run, evaluated and calibrated on.
type dataFlags struct {
	group
	data, calData   string
	items, calItems string
	size            string
	resize          string
	mean, std       []float32
	scale           float32
	nhwc            bool
	layout          string
	order           string // of channels
	notFinite       bool   // NaN and infinities are taken
	shape           []int
	elements        string
	dequantize      []float32
	labels          string
	labelOffset     int
	task            string
	tokenizer       string // of texts
	logits          string // likewise, the output of scores
	speaks          bool   // the tokenizer is for what a language model writes, too
	seed            uint64
	randomItems     int

	raw    map[string]string // files of bytes by input, in place of data
	state  map[string]string // that goes from item to item: outputs by inputs
	shapes map[string][]int  // of inputs, where a model needs shapes and the opened data has them
}

func (d *dataFlags) define() {
	d.heading = dataHeading
	f := d.part(takeEvaluated)
	f.StringVar(&d.data, "data", "", "evaluation data at `PATH`: .npz, .npy, idx, CIFAR .bin, a folder of images or of ONNX test data; .txt for a language model")
	calibrated := d.part(takeCalibrated)
	calibrated.StringVar(&d.calData, "calib-data", "", "calibration data at `PATH`, in the same forms; default: the evaluation data")
	f.StringVar(&d.items, "items", "", "which `ITEMS` of the data, as in 500-1999 or 100; where times are estimated the first "+strconv.Itoa(fewItems)+" by default")
	calibrated.StringVar(&d.calItems, "calib-items", "", "which `ITEMS` of the calibration data")
	f.StringVar(&d.size, "size", "", "`SIZE` of image data: the side of a square, or HEIGHTxWIDTH; default for image files: that of the model's input, or 224 if it is open")
	f.StringVar(&d.resize, "resize", "crop", "how image files of other sizes are brought to --size: crop[:SIDE], which makes the shorter side SIDE (default: 256/224 of the longer one of --size) and cuts out the middle, stretch, or letterbox[:GREY], the whole image amid grey, the default where --labels are boxes")
	f.Float32SliceVar(&d.mean, "mean", nil, "mean of pixels, for all channels or each one, subtracted before the division by --std")
	f.Float32SliceVar(&d.std, "std", nil, "standard deviation of pixels, for all channels or each one")
	f.Float32Var(&d.scale, "scale", 0, "factor of pixels before --mean; default: 1/255")
	f.StringVar(&d.layout, "layout", "nchw", "how the model takes images: nchw or nhwc")
	f.BoolVar(&d.nhwc, "nhwc", false, "the same as --layout nhwc")
	f.StringVar(&d.order, "channel-order", "rgb", "which colour of images the model takes first: rgb or bgr; --mean and --std are in that order")
	f.BoolVar(&d.notFinite, "allow-not-finite", false, "accept data with NaN and infinities, which are errors otherwise")
	f.IntSliceVar(&d.shape, "shape", nil, "shape of one item of a raw file, as in 1,49,10")
	f.StringVar(&d.elements, "type", "", "element type of a raw file: f32, u8, i8, ...")
	f.Float32SliceVar(&d.dequantize, "dequantize", nil, "scale and zero point of a raw file's integers, as `SCALE,ZERO`")
	f.StringVar(&d.tokenizer, "tokenizer", "", "of a text: tokenizer.json, its `FOLDER`, or a tokenizer of llama2.c; default: tokenizer.json beside the model")
	f.StringVar(&d.logits, "logits", "", "of a text: the `OUTPUT` that scores the next token; default: one as wide as the vocabulary, called logits, or the first")
	f = d.part(takeLabels)
	f.StringVar(&d.labels, "labels", "", "`FILE` of labels where the data has none: a byte per item, idx or .npy; of a folder of images also boxes, as COCO's .json or a folder of YOLO's .txt")
	f.IntVar(&d.labelOffset, "label-offset", 0, "added to every label: 1 where the model's first class is the background")
	f.StringVar(&d.task, "task", "auto", "`TASK` by whose measure accuracy is judged: classes (top-1), detection[:FORM] (mAP), outputs (cosine), or auto, what data and outputs say; forms of boxes: "+formNames())
	f = d.part(takeRandom)
	f.Uint64Var(&d.seed, "seed", 1, "seed of the random input that stands in for missing data")
	f.IntVar(&d.randomItems, "random-items", 32, "items of random input where there is no data")
}

// check refuses flags that say how data is read where no data is named, and values that cannot have been meant.
func (d *dataFlags) check() error {
	if err := d.checkValues(); err != nil {
		return usageError{err}
	}
	if d.data == "" && d.labelOffset != 0 {
		return usageError{errors.New("--label-offset is for the labels of --data, which is missing")}
	}
	if d.data == "" && d.labels != "" {
		return usageError{errors.New("--labels is for the items of --data, which is missing")}
	}
	for _, flag := range []string{"size", "resize", "mean", "std", "scale", "nhwc", "layout", "channel-order", "allow-not-finite", "shape", "type", "dequantize", "tokenizer", "logits"} {
		if d.changed(flag) && d.data == "" && d.calData == "" && !((flag == "tokenizer" || flag == "logits") && d.speaks) {
			return usageError{fmt.Errorf("--%s says how --data or --calib-data is read, and both are missing", flag)}
		}
	}
	return nil
}

func (d *dataFlags) checkValues() error {
	if _, err := stages.ParseTask(d.task); err != nil {
		return fmt.Errorf("--%w", err)
	}
	if d.randomItems < 1 || d.randomItems > maxRandomItems {
		return fmt.Errorf("--random-items %d: want 1 to %d", d.randomItems, maxRandomItems)
	}
	if d.layout != "nchw" && d.layout != "nhwc" {
		return fmt.Errorf("--layout %q: want nchw or nhwc", d.layout)
	}
	if d.order != "rgb" && d.order != "bgr" {
		return fmt.Errorf("--channel-order %q: want rgb or bgr", d.order)
	}
	_, _, err := d.pictures()
	return err
}

// pictures returns the size that image data is brought to, zero where it stays as it is, and how.
func (d *dataFlags) pictures() (size dataset.Size, how dataset.Resize, err error) {
	if d.changed("size") {
		size, err = dataset.ParseSize(d.size)
	}
	if err == nil {
		how, err = dataset.ParseResize(d.resize)
	}
	if err != nil {
		err = fmt.Errorf("--%w", err)
	}
	if d.labels != "" && !d.changed("resize") && dataset.HasBoxes(d.labels) {
		how = dataset.Letterboxed
	}
	return size, how, err
}

// formNames lists the forms in which outputs may be boxes.
func formNames() string {
	var names []string
	for _, f := range detection.Forms() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// open opens the data to evaluate and to calibrate on: what the flags name or the embedded model's own; nil where there is
// none. given are the shapes of inputs that --shapes names.
func (d *dataFlags) open(m *model.Model, embedded bool, given map[string][]int) (data, cal dataset.Data, err error) {
	if embedded && d.data == "" {
		data = digits{testdata.TestImages(), "1,000 embedded digits"}
	}
	if embedded && d.calData == "" && d.data == "" {
		cal = digits{testdata.CalibrationImages(), "300 embedded digits"}
	}
	if d.data != "" {
		if data, err = d.dataset(m, d.data, d.items, given); err != nil {
			return nil, nil, err
		}
	}
	switch path := cmp.Or(d.calData, d.data); {
	case path != "" && (d.calData != "" || d.calItems != ""):
		cal, err = d.dataset(m, path, d.calItems, given)
	case d.calItems != "" && cal == nil:
		err = usageError{errors.New("--calib-items chooses from --calib-data or --data, and both are missing")}
	case d.calItems != "":
		cal, err = partOf("--calib-", cal, d.calItems)
	}
	return data, cal, err
}

// random makes the input that stands in for data, at values of the shapes' symbols.
func (d *dataFlags) random(m *model.Model, env map[string]int) (dataset.Data, error) {
	set, err := dataset.Random(m.Network.Inputs, env, d.randomItems, d.seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return set.Bind(m.Network.Inputs)
}

// rawInputs reads the bytes of each input, as many items as there are at values of the shapes' symbols, and at least a batch of them.
func (d *dataFlags) rawInputs(m *model.Model, env, batch map[string]int) (dataset.Data, error) {
	set, err := dataset.OpenRaw(d.raw, m.Network.Inputs, env, batch)
	if err != nil {
		return nil, err
	}
	return d.bind(m, set)
}

// chosen returns the items that --items chooses of data that it did not open: the embedded model's, or random input.
func (d *dataFlags) chosen(data dataset.Data) (dataset.Data, error) {
	if d.data != "" || d.items == "" {
		return data, nil
	}
	return partOf("--", data, d.items)
}

// partOf returns what a flag, whose name without items it is given, chooses of data.
func partOf(flag string, data dataset.Data, items string) (dataset.Data, error) {
	first, limit, err := dataset.ParseItems(items)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s%w", flag, err)}
	}
	if data, err = dataset.Subset(data, first, limit); err != nil {
		return nil, usageError{err}
	}
	return data, nil
}

func (d *dataFlags) dataset(m *model.Model, path, items string, given map[string][]int) (dataset.Data, error) {
	if d.isText(path) {
		return d.text(m, path, items, given)
	}
	opt := dataset.Options{Scale: d.scale, Mean: d.mean, Std: d.std, NHWC: d.nhwc || d.layout == "nhwc", BGR: d.order == "bgr", Shape: d.shape, NotFinite: d.notFinite}
	var err error
	if opt.Size, opt.Resize, err = d.pictures(); err != nil {
		return nil, usageError{err}
	}
	opt.ImageSize, opt.ImageChannels = imageForm(m.Network.Inputs, given, opt.NHWC)
	for _, t := range m.Network.Inputs {
		if dataset.IsLabels(t.Name) {
			opt.Inputs = append(opt.Inputs, t.Name)
		}
	}
	if path == d.data {
		opt.Labels, opt.LabelOffset = d.labels, d.labelOffset
	}
	if d.elements != "" {
		if err := opt.Type.UnmarshalText([]byte(d.elements)); err != nil {
			return nil, usageError{fmt.Errorf("--type: %w", err)}
		}
	}
	switch len(d.dequantize) {
	case 0:
	case 2:
		opt.Range = numeric.PerTensor(d.dequantize[0], int32(d.dequantize[1]))
	default:
		return nil, usageError{fmt.Errorf("--dequantize %v: want SCALE,ZERO", d.dequantize)}
	}
	if items != "" {
		if opt.First, opt.Limit, err = dataset.ParseItems(items); err != nil {
			flag := "--"
			if path != d.data || items != d.items {
				flag += "calib-"
			}
			return nil, usageError{fmt.Errorf("%s%w", flag, err)}
		}
	}
	set, err := dataset.Open(path, opt)
	if err != nil {
		return nil, err
	}
	return d.bind(m, set)
}

// bind returns a set as data for a model's inputs. A state that the set does not have begins with zeros.
func (d *dataFlags) bind(m *model.Model, set *dataset.Set) (dataset.Data, error) {
	var given, begun []*graph.Tensor
	for _, t := range m.Network.Inputs {
		has := slices.ContainsFunc(set.Inputs, func(in dataset.Input) bool { return in.Name == t.Name })
		if _, carried := d.state[t.Name]; carried && !has {
			begun = append(begun, t)
		} else {
			given = append(given, t)
		}
	}
	data, err := set.Bind(given)
	if err != nil || begun == nil {
		return data, err
	}
	return dataset.Begun(data, begun), nil
}

// imageForm returns the height and width of the images that a network takes, and whether they have 1 or 3 channels, as far as its only
// input, or the shape that is given for it, says so.
func imageForm(inputs []*graph.Tensor, shapes map[string][]int, nhwc bool) (size dataset.Size, channels int) {
	if len(inputs) != 1 || len(inputs[0].Dims) != 4 {
		return dataset.Size{}, 0
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
	size, channels = dataset.Size{Height: extents[2], Width: extents[3]}, extents[1]
	if nhwc {
		size, channels = dataset.Size{Height: extents[1], Width: extents[2]}, extents[3]
	}
	if size.Height < 1 || size.Width < 1 {
		size = dataset.Size{}
	}
	if channels != 1 && channels != 3 {
		channels = 0
	}
	return size, channels
}
