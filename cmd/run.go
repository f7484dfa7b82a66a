package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
)

// evaluation is the name by which --backends knows the layers' own definition.
const evaluation = "eval"

// times writes a factor.
func times(n float64) string { return fmt.Sprintf("%g times", n) }

// runFlags are the flags of trtui run.
type runFlags struct {
	modelFlags
	atol, rtol float64
	perLayer   bool
	save       string                     // file for the outputs of the first backend
	changed    func(flags ...string) bool // whether one of them was given
}

func runCommand(t tables) *cobra.Command {
	return (&runFlags{modelFlags: *onBackends(t)}).command()
}

func (o *runFlags) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "run [MODEL|ENGINE]",
		Short: "Run a model on one backend or more and compare their outputs",
		Long: "Run a model on one backend, which shows statistics of its outputs, or on several: then every output a of\n" +
			"the first is compared with the output b of each other one, and they agree if |a - b| <= atol + rtol |b|.\n" +
			"If they do not, the exit code is 1.\n\n" +
			"If neither --atol nor --rtol is given, the tolerance depends on the values. In fp32 atol is 1e-4 of the RMS of b and\n" +
			"rtol 1e-4; for tensors of models that are FP16 themselves it is 3e-2 of the RMS and 1e-2. Of a model that is lowered\n" +
			"to fp16 or int8 it is measured: two correct runs round in different places, and differ by no more than either differs\n" +
			"from FP32 on the same items. In fp16 |a - b| may be twice the largest difference of the nearer one from FP32, its RMS\n" +
			"1.5 times that one's; in int8, where nearly all integers are equal, as much as that and a quarter; and neither more\n" +
			"than a tenth of the output's own. Integers must be equal. The output states the tolerance that was used.\n\n" +
			"The backend \"" + evaluation + "\" is the definition of the layers, slow and exact: of the model itself in fp32, and in\n" +
			"other precisions of the network as it was lowered for the first backend.",
		Example: examples("the CPU against the definition of the layers", "trtui run model.onnx --backends cpu,eval",
			"the first layer that differs in INT8 on a GPU", "trtui run model.onnx --backends cpu,cuda --precision int8 --per-layer",
			"the highest scores of four images", "trtui run model.onnx --data images/ --items 4"),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), modelArg(args))
		},
	}
	o.few, o.device.others = fewItems, []string{evaluation}
	o.register(c, takeAll)
	f := c.Flags()
	f.Lookup("backend").Usage += ", " + evaluation + " (the layers' own definition)"
	f.StringSliceVar(&o.device.compared, "backends", nil, "backends to compare, the first with each other one: "+backendNames(o.device.table)+", "+evaluation+"; default: --backend alone")
	f.Float64Var(&o.atol, "atol", -1, "absolute tolerance; if only --rtol is given 1e-5, in fp16 and for 16-bit tensors 1e-3")
	f.Float64Var(&o.rtol, "rtol", -1, "relative tolerance; if only --atol is given 1e-4, in fp16 and for 16-bit tensors 1e-2")
	f.Lookup("atol").DefValue, f.Lookup("rtol").DefValue = "0", "0" // -1 stands for none; zero is not printed
	f.BoolVar(&o.perLayer, "per-layer", false, "compare the output of every engine layer that both have, and name the first one that exceeds the tolerance")
	f.StringVar(&o.save, "save-outputs", "", "write the outputs for all items, of the first backend, to `FILE` as .npz, which numpy opens")
	under(c, outputHeading, "save-outputs")
	under(c, "Comparison", "backends", "atol", "rtol", "per-layer")
	f.Lookup("items").Usage = fmt.Sprintf("which items of the data, as in 500-1999 or 100; the first %d by default", fewItems)
	o.changed = func(flags ...string) bool { return slices.ContainsFunc(flags, f.Changed) }
	return c
}

// comparing returns how runs are compared: with the tolerances of the flags or, where there are none, with such as rounding
// stays within, for the precision and for the types of tensors. INT8's are FP32's, since every backend computes the same
// integers.
func (o *runFlags) comparing(p config.Precision) compare.Options {
	if !o.changed("atol", "rtol") {
		return compare.Options{
			Tolerance: report.Tolerance{Abs: 1e-4, Rel: 1e-4}, Half: report.Tolerance{Abs: 3e-2, Rel: 1e-2}, Scaled: true, PerLayer: o.perLayer,
		}
	}
	how := compare.Options{
		Tolerance: report.Tolerance{Abs: 1e-5, Rel: 1e-4}, Half: report.Tolerance{Abs: 1e-3, Rel: 1e-2}, PerLayer: o.perLayer,
	}
	if p == config.FP16 {
		how.Tolerance = how.Half
	}
	for _, t := range []*report.Tolerance{&how.Tolerance, &how.Half} {
		if o.changed("atol") {
			t.Abs = o.atol
		}
		if o.changed("rtol") {
			t.Rel = o.rtol
		}
	}
	return how
}

// check refuses what cannot have been meant before anything is opened.
func (o *runFlags) check() error {
	if err := o.modelFlags.check(); err != nil {
		return err
	}
	if !o.changed("backends") {
		o.device.compared = nil
	} else if len(o.device.compared) == 0 {
		return usageError{fmt.Errorf("--backends names none: this program has %s, %s", backendNames(o.device.table), evaluation)}
	} else if o.changed("backend") {
		return usageError{errors.New("--backend names one backend, --backends several; give one of the two")}
	}
	for _, name := range o.device.compared {
		if name == evaluation {
			continue
		}
		if _, _, err := findBackend(o.device.table, "backends", name, evaluation); err != nil {
			return err
		}
	}
	for flag, v := range map[string]float64{"atol": o.atol, "rtol": o.rtol} {
		if o.changed(flag) && !(v >= 0) {
			return usageError{fmt.Errorf("--%s %g: want a number of 0 or more", flag, v)}
		}
	}
	return nil
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
	cfg, err := o.configFor(p.model)
	if err != nil {
		return err
	}
	contenders, closeAll, err := o.contenders(p, names)
	defer closeAll()
	if err != nil {
		return err
	}
	report, stop := o.output.reporter(stderr)
	how, saved := o.comparing(cfg.Precision), savedOutputs{}
	if o.save != "" {
		how.Outputs = saved.add
	}
	r, err := sessions.Compare(ctx, p.model, p.work, cfg, contenders, how, report)
	stop()
	if err == nil && o.save != "" {
		err = saved.write(o.save)
	}
	if err != nil {
		return err
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

// contenders opens the backends that are compared; the first of the table is the place's own.
func (o *runFlags) contenders(p *place, names []string) (list []sessions.Contender, closeAll func(), err error) {
	var opened []run.Backend
	closeAll = func() {
		for _, b := range opened {
			b.Close()
		}
	}
	p.work.Host = p.work.Backend
	for _, name := range names {
		c := sessions.Contender{Name: name}
		switch name {
		case evaluation:
		case o.device.table[0].name:
			c.Backend = p.work.Backend
		default:
			if c.Backend, err = o.device.open(name); err != nil {
				return nil, closeAll, err
			}
			opened = append(opened, c.Backend)
		}
		list = append(list, c)
	}
	return list, closeAll, nil
}
