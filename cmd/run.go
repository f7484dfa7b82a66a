package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/onnxruntime"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

// evaluation is the name by which --backends knows the layers' own definition.
const evaluation = "eval"

// outsiders are what --backends names beside backends.
var outsiders = []string{evaluation, ortBackend}

// comparedNames lists what --backends may name.
func comparedNames(table []backend) string {
	return strings.Join(append([]string{backendNames(table)}, outsiders...), ", ")
}

// times writes a factor.
func times(n float64) string { return fmt.Sprintf("%g times", n) }

// runFlags are the flags of trtui run.
type runFlags struct {
	modelFlags
	toleranceFlags
	perLayer   bool
	save       string                     // file for the outputs
	saveInputs string                     // file for the inputs
	loadInputs string                     // as --data
	validate   bool                       // outputs are to be finite
	load       []string                   // files of outputs to compare with
	others     []string                   // models, engines and configurations to compare with
	changed    func(flags ...string) bool // whether one of them was given
}

func runCommand(t tables) *cobra.Command {
	return (&runFlags{modelFlags: *onBackends(t)}).command()
}

func (o *runFlags) command() *cobra.Command {
	c := &cobra.Command{
		Use:        "run [MODEL|ENGINE]",
		SuggestFor: []string{"polygraphy", "onnxruntime", "outputs", "verify"},
		Short:      "Run a model on one backend or more and compare their outputs",
		Long: "Run a model on one backend, which shows statistics of its outputs, or on several: then every output a of\n" +
			"the first is compared with the output b of each other one, and they agree if |a - b| <= atol + rtol |b|.\n" +
			"If they do not, the exit code is 1.\n\n" +
			"If neither --atol nor --rtol is given, the tolerance depends on the values. In fp32 atol is 1e-4 of the RMS of b and\n" +
			"rtol 1e-4; for tensors of models that are FP16 themselves it is 3e-2 of the RMS and 1e-2. Of a model that is lowered\n" +
			"to fp16 or int8 it is measured: two correct runs round in different places, and differ by no more than either differs\n" +
			"from FP32 on the same items. In fp16 |a - b| may be twice the largest difference of the nearer one from FP32, its RMS\n" +
			"1.5 times that one's; in int8, where nearly all integers are equal, as much as that and a quarter; and neither more\n" +
			"than a tenth of the output's own. Integers must be equal. The output states the tolerance that was used. Where a tensor was\n" +
			"quantised, one element in a hundred, or one in all, may be one step of its scale off, and none by more: sums that lie in\n" +
			"the middle between two integers are rounded to either.\n\n" +
			"The backend \"" + evaluation + "\" is the definition of the layers, slow and exact: of the model itself in fp32, and in\n" +
			"other precisions of the network as it was lowered for the first backend. \"" + ortBackend + "\" runs the model as it is\n" +
			"with ONNX Runtime, in a process of the Python that " + onnxruntime.PythonVariable + " names, or else python3. With it, and with outputs\n" +
			"of --load-outputs, what is lowered agrees within 3e-2 of the RMS of b and 1e-2, since nothing else was lowered. A model\n" +
			"that is quantised itself runs there with and without ONNX Runtime's fusions, which round a step of its integers here and\n" +
			"there: compared are its nodes as they are written, within about as far as these two are apart.\n\n" +
			"--compare names more models and engines, which are given the same inputs, and after an @ a precision, with a\n" +
			"calibrator after a slash, or the file of a configuration; without a file it is MODEL in that. Inputs and outputs go by\n" +
			"their names or, where these differ and are as many, by their order. Tolerances are those of --load-outputs.\n\n" +
			"Tolerances are for all outputs, or for one in Polygraphy's spelling, OUTPUT:NUMBER. --" + statisticFlag + " checks the\n" +
			"maximum, mean or median of an output in place of every element: the one of |a - b| against atol, or that of\n" +
			"|a - b| / |b| against rtol; either is enough. --" + functionFlag + " judges outputs as a whole, in place of tolerances or beside\n" +
			"them: the worst batch counts.",
		Example: examples("the CPU against the definition of the layers", "trtui run model.onnx --backends cpu,eval",
			"the first layer that differs in INT8 on a GPU", "trtui run model.onnx --backends cpu,cuda --precision int8 --per-layer",
			"ONNX Runtime, and which layer is the first to differ from it", "trtui run model.onnx --backends cpu,onnxruntime --per-layer",
			"two engines on the same images", "trtui run old.engine --compare new.engine --data images/",
			"what INT8 changes, layer by layer", "trtui run model.onnx --compare @int8 --per-layer",
			"what Polygraphy saved of the same inputs", "trtui run model.onnx --data inputs.json --load-outputs outputs.json",
			"whether INT8 has the same five classes", "trtui run m.onnx --compare @int8 --postprocess top-5 --compare-func indices",
			"the highest scores of four images", "trtui run model.onnx --data images/ --items 4"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args))
		},
	}
	o.few, o.device.others, o.usual = fewItems, outsiders, true
	o.register(c, takeAll)
	f := c.Flags()
	f.Lookup("backend").Usage += ", " + evaluation + " (the layers' own definition), " + ortBackend
	f.StringSliceVar(&o.device.compared, "backends", nil, "backends to compare, the first with each other one: "+comparedNames(o.device.table)+"; default: --backend alone")
	o.tolerance(f)
	f.BoolVar(&o.perLayer, "per-layer", false, "compare the output of every engine layer that both have, and name the first one that exceeds the tolerance")
	f.BoolVar(&o.validate, "validate", false, "fail where an output has elements that are NaN or infinite")
	f.StringSliceVar(&o.load, "load-outputs", nil, "compare with outputs in `FILE`: .npz, or .json or its folder that Polygraphy saved, of every runner in it")
	f.StringArrayVar(&o.others, "compare", nil, "compare with `MODEL|ENGINE[@CONFIG]` on the same inputs, as in new.engine, or @int8 for the same model in INT8; may be repeated")
	f.StringVar(&o.loadInputs, "load-inputs", "", "the same as --data")
	f.StringVar(&o.save, "save-outputs", "", "write the outputs for all items to `FILE`: .npz with those of the first backend, which numpy opens, or .json with those of all, which Polygraphy loads")
	f.StringVar(&o.saveInputs, "save-inputs", "", "write the inputs of all items to `FILE`, .npz or .json for Polygraphy")
	under(c, outputHeading, "save-outputs", "save-inputs")
	under(c, dataHeading, "load-inputs")
	under(c, "Comparison", append(toleranceNames(), "backends", "compare", "load-outputs", "per-layer", "validate")...)
	f.Lookup("items").Usage = fmt.Sprintf("which items of the data, as in 500-1999 or 100; the first %d by default, all where inputs or outputs are saved", fewItems)
	o.changed = func(flags ...string) bool { return slices.ContainsFunc(flags, f.Changed) }
	return c
}

// check refuses what cannot have been meant before anything is opened.
func (o *runFlags) check() error {
	if o.loadInputs != "" {
		if o.data.data != "" {
			return usageError{errors.New("--load-inputs is the same as --data; give one of the two")}
		}
		o.data.data = o.loadInputs
	}
	if o.save != "" || o.saveInputs != "" { // whoever reads them takes them to be of the data
		o.few = 0
	}
	if err := o.modelFlags.check(); err != nil {
		return err
	}
	if !o.changed("backends") {
		o.device.compared = nil
	} else if len(o.device.compared) == 0 {
		return usageError{fmt.Errorf("--backends names none: this program has %s, %s", backendNames(o.device.table), strings.Join(outsiders, ", "))}
	} else if o.changed("backend") {
		return usageError{errors.New("--backend names one backend, --backends several; give one of the two")}
	}
	for _, name := range o.device.compared {
		if _, _, err := findBackend(o.device.table, "backends", name, outsiders...); err != nil {
			return err
		}
	}
	_, err := o.parse()
	return err
}

func (o *runFlags) run(ctx context.Context, stdout, stderr io.Writer, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	m, err := o.openModel(path)
	if err != nil {
		return err
	}
	names := o.device.compared
	if names == nil {
		names = []string{cmp.Or(o.device.own(m), o.device.backend)}
	}
	o.device.backend = o.device.table[0].name // what the place itself works with: calibration
	p, err := o.equip(m, path == "")
	if err != nil {
		return err
	}
	defer p.close()
	p.warn(stderr)
	o.tellUsual(stderr)
	cfg, err := o.configFor(p.model)
	if err != nil {
		return err
	}
	others, err := o.otherModels(p, path, cfg)
	if err != nil {
		return err
	}
	how, err := o.comparing(p.model, lowestPrecision(cfg, others))
	if err != nil {
		return err
	}
	contenders, closeAll, err := o.contenders(ctx, p, cfg, names)
	defer closeAll()
	if err != nil {
		return err
	}
	report, stop := o.output.reporter(stderr)
	beside, closeOthers, err := o.contendOthers(ctx, p, contenders[0], others, report)
	defer closeOthers()
	if err != nil {
		stop()
		return err
	}
	contenders = append(contenders, beside...)
	r, err := o.compare(ctx, p, cfg, contenders, how, report)
	stop()
	if err != nil {
		return err
	}
	if o.validate {
		r.Validate()
	}
	if o.output.json() {
		err = writeReport(stdout, sessions.NewRunner(p.model, p.work, nil).Head(&cfg), r)
	} else {
		writeComparison(stdout, r)
	}
	if err == nil && !r.Passed {
		err = errNo
	}
	return err
}

// comparing returns how the runs of a model are compared.
func (o *runFlags) comparing(m *model.Model, p config.Precision) (compare.Options, error) {
	t, err := o.parse()
	if err == nil {
		err = t.checkNames(m.Network)
	}
	how := t.comparing(p)
	how.PerLayer = o.perLayer
	return how, err
}

// compare compares the contenders, and saves what they take and make.
func (o *runFlags) compare(ctx context.Context, p *place, cfg config.Config, contenders []sessions.Contender, how compare.Options, told func(report.Progress)) (*report.Comparison, error) {
	var names []string
	for _, c := range contenders {
		names = append(names, c.Name)
	}
	outputs, inputs := newSaving(o.save, "output", names...), newSaving(o.saveInputs, "input", "")
	if outputs != nil {
		how.Save = outputs.add
	}
	if inputs != nil {
		how.SaveInputs = func(first int, values map[string]numeric.Value) error { return inputs.add(0, first, values) }
	}
	r, err := sessions.Compare(ctx, p.model, p.work, cfg, contenders, how, told)
	if err == nil {
		err = cmp.Or(outputs.write(), inputs.write())
	}
	return r, err
}

// contenders opens the backends that are compared, the first of the table is the place's own, and the files with outputs.
func (o *runFlags) contenders(ctx context.Context, p *place, cfg config.Config, names []string) (list []sessions.Contender, closeAll func(), err error) {
	var opened []func()
	closeAll = func() {
		for _, f := range opened {
			f()
		}
	}
	p.work.Host = p.work.Backend
	for _, name := range names {
		c := sessions.Contender{Name: name}
		switch name {
		case evaluation:
		case ortBackend:
			var closeIt func()
			if c, closeIt, err = openRuntime(ctx, p.model, cfg, o.perLayer, p.work.Warn); err != nil {
				return nil, closeAll, err
			}
			opened = append(opened, closeIt)
		case o.device.table[0].name:
			c.Backend = p.work.Backend
		default:
			if c.Backend, err = o.device.open(name); err != nil {
				return nil, closeAll, err
			}
			opened = append(opened, func() { c.Backend.Close() })
		}
		list = append(list, c)
	}
	loaded, err := loadedRuns(o.load)
	return append(list, loaded...), closeAll, err
}
