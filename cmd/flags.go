package cmd

import (
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/stages"
)

// part names flags that mean something to a command together, or not at all.
type part uint

// The parts, by the group that has them.
const (
	takeEvaluated part = 1 << iota // dataFlags
	takeCalibrated
	takeLabels
	takeRandom

	takeShapes // configFlags
	takeState
	takePrecision
	takeCalibrator
	takeRounding
	takePasses
	takeTactics

	takeBackend // deviceFlags
	takeThreads
	takeTimings
	takeCode

	takeFormat // outputFlags
	takeQuiet
	takeLog

	takeInputs = takeEvaluated | takeCalibrated
	takeInt8   = takeCalibrator | takeRounding
	takeOutput = takeFormat | takeQuiet | takeLog
	takeAll    = takeLog<<1 - 1
)

// Headings of the help.
const (
	dataHeading   = "Data"
	configHeading = "Configuration"
	deviceHeading = "Device"
	outputHeading = "Output"
	screenHeading = "Screen"
)

// headingKey is the annotation of a flag that says under which heading of the help it is.
const headingKey = "heading"

// group is flags under one heading of the help. A command gets those of its parts that mean something to it; the others have
// their defaults.
type group struct {
	heading string
	parts   []flagPart
}

type flagPart struct {
	of    part
	flags *pflag.FlagSet
}

// part returns where the flags of one part are defined.
func (g *group) part(of part) *pflag.FlagSet {
	set := pflag.NewFlagSet(g.heading, pflag.ContinueOnError)
	g.parts = append(g.parts, flagPart{of, set})
	return set
}

// addTo gives a command the flags that it takes.
func (g *group) addTo(c *cobra.Command, takes part) {
	for _, p := range g.parts {
		if takes&p.of == 0 {
			continue
		}
		p.flags.VisitAll(func(f *pflag.Flag) {
			setHeading(f, g.heading)
			c.Flags().AddFlag(f)
		})
	}
}

// lookup returns a flag of the group, whether the command takes it or not.
func (g *group) lookup(name string) *pflag.Flag {
	for _, p := range g.parts {
		if f := p.flags.Lookup(name); f != nil {
			return f
		}
	}
	return nil
}

// changed reports whether one of the flags was given.
func (g *group) changed(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		f := g.lookup(name)
		return f != nil && f.Changed
	})
}

// anyChanged returns one of the flags that were given, "" where none was.
func (g *group) anyChanged() (name string) {
	for _, p := range g.parts {
		p.flags.VisitAll(func(f *pflag.Flag) {
			if f.Changed && name == "" {
				name = f.Name
			}
		})
	}
	return name
}

func setHeading(f *pflag.Flag, heading string) {
	f.Annotations = map[string][]string{headingKey: {heading}}
}

// under puts flags of a command's own under a heading of its help.
func under(c *cobra.Command, heading string, names ...string) {
	for _, name := range names {
		setHeading(c.Flags().Lookup(name), heading)
	}
}

// modelFlags are the groups that commands on a model are made of, and how such a command works on it.
type modelFlags struct {
	data   dataFlags
	config configFlags
	device deviceFlags
	output outputFlags

	plugins     pluginFlags
	sequences   sequenceFlags
	requantized bool // what quantisation a model brings is dropped
	own         Own  // what the program has beside the built-in
	lookOnly    bool // the model is looked at and not run: it needs neither data nor shapes
	usual       bool // a model without shapes is shown at usual ones of such models, and that is said
	partly      bool // a model of which parts are not supported does: it is looked at
	anew        bool // several calibrators are compared: on the same data, whatever an engine has
	rounds      int  // in which engines are measured side by side; 0: as usual
	peaks       bool // layers are timed to be set under the device's peaks
	tapItems    int  // on how many items layers are compared; 0: as stages do
	few         int  // how many items are used where none were asked for; 0: all

	more stages.More // in how many rounds more engines are measured; nil: in none

	chosen stages.UsualShapes // where they are taken

	live time.Duration // that a session measures an engine at last; 0: as usual
}

// onBackends returns the flags of a command that finds its backends in a table.
func onBackends(t tables) *modelFlags {
	return &modelFlags{device: deviceFlags{table: t.backends}, own: t.own, live: t.live}
}

// register gives a command the flags that it takes.
func (f *modelFlags) register(c *cobra.Command, takes part) {
	f.config.own = f.own
	f.data.define()
	f.config.define()
	f.device.define()
	f.output.define()
	for _, g := range []*group{&f.data.group, &f.config.group, &f.device.group, &f.output.group} {
		g.addTo(c, takes)
	}
	f.plugins.addTo(c)
	f.sequences.addTo(c)
	if takes&takeCalibrator != 0 {
		c.Flags().BoolVar(&f.requantized, "requantize", false, "drop the quantisation that a model brings: it is one of real numbers, to be quantised here")
		under(c, configHeading, "requantize")
	}
	if takes&takeTimings == 0 { // it times nothing
		f.device.timings = "none"
	}
}

// check refuses what cannot have been meant before anything is opened, and reads the file of --config.
func (f *modelFlags) check() error {
	if err := f.loadPlugins(); err != nil {
		return err
	}
	for _, check := range []func() error{f.sequences.check, f.config.check, f.data.check, f.output.check, f.device.check} {
		if err := check(); err != nil {
			return err
		}
	}
	return f.config.readFile()
}

// configFor returns the configuration for a model.
func (f *modelFlags) configFor(m *model.Model) (config.Config, error) {
	return f.config.forModel(m, f.data.shapes)
}
