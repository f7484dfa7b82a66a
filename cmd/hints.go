package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/build"
	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/images"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/internal/onnxruntime"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/budget"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/exchange"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/recording"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/sessions/stages"
	"github.com/trtui/trtui/views/pane"
)

// hintOn says which flag or command helps with an error, which states the facts alone; "" where none does.
func hintOn(err error) string {
	if hint := hintOnData(err); hint != "" {
		return hint
	}
	if errors.As(err, new(*compare.Unlike)) {
		return "--batch 1 computes items one by one, each at its own shapes"
	}
	if errors.As(err, new(*run.OutOfRange)) && errors.As(err, new(*compare.ItemError)) {
		return "--minShapes and --maxShapes say from which to which shapes an engine is to serve; trtui inspect engine shows what one serves"
	}
	if errors.As(err, new(*run.OutOfRange)) {
		return "trtui inspect engine shows what an engine serves; trtui build --minShapes, --maxShapes and --profile make one that serves more"
	}
	if e := new(run.OtherShape); errors.As(err, &e) && e.Type == e.WantType && len(e.Dims) == len(e.WantDims) {
		return fmt.Sprintf("--shapes %s:%s has an engine run at that shape, if it serves it", e.Input, config.TimesText(e.Dims))
	}
	if errors.As(err, new(*images.TooLarge)) {
		return "--max-extent N says how many rows and columns an image can have"
	}
	if errors.As(err, new(*graph.MissingPlugin)) {
		return "--plugin FILE loads a plugin"
	}
	if e := new(build.Undone); errors.As(err, &e) {
		return "trtui build --keep-source --disable " + e.Pass + " makes an engine that takes such weights"
	}
	if errors.Is(err, run.ErrNoSource) {
		return "trtui build --keep-source keeps the model in the engine"
	}
	var room *run.NoRoom
	var memory *graph.NoMemory
	var short *host.Shortage
	if errors.As(err, &room) && room.Limit > 0 || errors.As(err, &memory) && memory.Given || errors.As(err, &short) && short.Limit > 0 {
		return "--max-memory sets the limit"
	}
	if e := new(onnx.ImportError); errors.As(err, &e) && slices.ContainsFunc(e.Problems, func(p onnx.Problem) bool { return p.Length }) {
		return "--sequences NAME:N says how many tensors a sequence has, --without NAME that an optional has no element"
	} else if errors.As(err, &e) && slices.ContainsFunc(e.Problems, func(p onnx.Problem) bool { return p.Axes }) {
		return "--shapes NAME:1x3x224x224 says how many axes an input has"
	} else if errors.As(err, &e) && slices.ContainsFunc(e.Problems, func(p onnx.Problem) bool { return p.Long }) {
		return "--shapes gives extents as numbers, which are never too long; such a model is built for one set of shapes, and not for a range"
	} else if errors.As(err, &e) && slices.ContainsFunc(e.Problems, func(p onnx.Problem) bool { return p.Extent }) {
		return "--max-extent N says how large an extent can be that data decide"
	} else if at := slices.IndexFunc(e.Problems, func(p onnx.Problem) bool { return p.Input != "" }); at >= 0 {
		return "--constants " + e.Problems[at].Input + "=true, or false, makes a constant of an input"
	} else if errors.As(err, &e) && !e.Damaged {
		return "trtui inspect model MODEL, inspect passes and the workbench show the rest of it, which parts are not supported, and why"
	}
	if e := new(stages.NotQuantized); errors.As(err, &e) && e.Own {
		return "--requantize drops that, and the model is quantised here"
	}
	if e := new(model.Foreign); errors.As(err, &e) {
		return map[model.FileUse]string{
			model.AsRecording: "trtui replay opens a recording", model.AsData: "--data takes it, next to a model",
			model.AsConfig: "--config takes a configuration, next to a model; trtui inspect layers shows what trtexec wrote of an engine",
		}[e.Use]
	}
	switch {
	case errors.As(err, new(*stages.NoItems)):
		return "--calib-data gives them; --equalization off leaves channels as they are"
	case errors.As(err, new(*notFailing)):
		return "--items and --data choose what it is run on; --backends, --atol, --rtol and --check what is wrong"
	case errors.As(err, new(*onnxruntime.MissingError)):
		return "python3 -m pip install onnxruntime gives it to a Python; " + onnxruntime.PythonVariable + " names the one to use"
	case errors.Is(err, stages.ErrNoVariants):
		return "--calib-data or --data gives it"
	case errors.Is(err, budget.ErrNoBaseline):
		return "--baseline names one: an engine, a model or a recording"
	case errors.Is(err, recording.ErrNotRecording):
		return "trtui record makes recordings, and so does the key w in the workbench"
	case exchange.IsUnknown(err):
		return "trtui inspect engine shows the layers of a model or of an engine that was built here"
	case errors.As(err, new(*sessions.TacticError)):
		return "trtui inspect tactics says why"
	}
	var missing *run.Unsupported
	if !errors.As(err, &missing) {
		return ""
	}
	text := fmt.Sprintf("trtui inspect tactics [MODEL] --backend %s shows what every tactic says of these layers", missing.Backend)
	if host := backends[0].name; missing.Backend != host {
		text += fmt.Sprintf("; --backend %s computes every layer", host)
	}
	return text
}

// hintOnFact says which flag helps with what a pane of the workbench states.
func hintOnFact(fact pane.Fact) string {
	switch f := fact.(type) {
	case pane.LabelsOff:
		return fmt.Sprintf("--label-offset %d", f.By)
	case pane.ConfigSaved:
		return "build it with --config " + f.Path
	case pane.Advised:
		return hintOnRemedy(f.Remedy, nil)
	case pane.NoCeilings:
		return fmt.Sprintf("trtui record has them in a new one, and on the same device trtui bench %s --roofline measures them now", shellWord(f.Recording))
	}
	return ""
}

// hintOnData says which flag helps where a model and its data do not fit; "" for other errors.
func hintOnData(err error) string {
	if e := new(model.UnboundShapes); errors.As(err, &e) {
		return fmt.Sprintf("--shapes %s gives shapes; --data names data that has them", e.Example())
	}
	if e := new(model.RangeError); errors.As(err, &e) {
		if e.Alone() {
			return "--shapes " + shellLine([]string{strings.Join(shapeWords(e.Min), ",")}) + " serves these alone"
		}
		return shellLine([]string{"--minShapes", strings.Join(shapeWords(e.Min), ","), "--maxShapes", strings.Join(shapeWords(e.Max), ",")}) + " serve that range"
	}
	if e := new(dataset.TooManyItems); errors.As(err, &e) {
		return fmt.Sprintf("--random-items %d makes as many as there may be", e.Fit)
	}
	switch {
	case errors.As(err, new(*graph.IndexError)):
		return "an input gives an index that is out of range; --data names inputs that fit"
	case errors.As(err, new(*model.ShapesError)):
		return "--shapes, --batch and --data choose the shapes"
	case errors.As(err, new(*stages.LabelError)):
		return "--label-offset is added to every label"
	case errors.As(err, new(*dataset.UnknownForm)):
		return "--type i8 and --shape 1,49,10 say what a raw file holds, --dequantize SCALE,ZERO what its integers mean"
	case errors.As(err, new(*dataset.NotFiniteError)):
		return "--allow-not-finite takes the data as it is"
	}
	return ""
}

// hintOnRemedy says which flag or command makes the change that helps with what a rule found, and for which layers where those are known.
func hintOnRemedy(r report.Remedy, raise []string) string {
	if r == report.RemedyPrecision && len(raise) > 0 {
		return raiseFlag(raise) + " has it read as a float"
	}
	return map[report.Remedy]string{
		report.RemedyPreprocessing: "--scale, --mean and --std prepare pixels as in training; --size and --channel-order, too, must fit; --dequantize says what raw integers stand for",
		report.RemedyLabelOffset:   "--label-offset is added to every label",
		report.RemedyData:          "--data, or --calib-data, names data that is like what the model will see",
		report.RemedyCalibrator:    "--calibrator chooses another one; trtui calibrate --compare shows all of them",
		report.RemedyWeightScales:  "--weight-scales channel",
		report.RemedyEqualization:  "--equalization weights, or activations",
		report.RemedyPrecision:     "--layer-precisions LAYER:fp32, or :fp16, :int8; trtui inspect passes says why a layer has the one it has",
		report.RemedyRequantize:    "--requantize drops the quantisation that the model brings, and it is quantised here",
		report.RemedyTactics:       "trtui inspect tactics lists the candidates; --tactic LAYER=TACTIC pins one; --timing-cache none times them again",
		report.RemedyRules:         "leave out --disable",
		report.RemedyModel:         "the model itself would have to change",
		report.RemedyBatch:         "--batch makes an inference larger; trtui bench --sweep batch=1..64 shows what that gives",
		report.RemedyMeasure:       "measure on a machine at rest, and with trtui bench --duration longer",
		report.RemedyMemory:        "trtui inspect memory shows the arena; --batch, --shapes and --precision make tensors smaller",
		report.RemedyThreads:       "--threads",
	}[r]
}
