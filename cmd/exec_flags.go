package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/exchange"
)

// execPlan is what a command line of trtexec asks for.
type execPlan struct {
	model       string
	loads       bool // it is an engine
	save        string
	shapes      string   // of inferences
	profile     string   // of the engine, that inferences run in
	ranged      bool     // the engine is built for a range first, and run at other shapes than its best, or in one of its profiles
	args        []string // of our own flags
	fp16, int8  bool     // precisions that are allowed beside FP32
	best        bool     // both of them are
	iterations  int
	warmUp      float64 // ms
	duration    float64 // s
	average     int     // inferences whose times are reported together; 0: none are
	percentiles []float64
	inputs      map[string]string // files by input; nil: as --data says
	layout      string            // of layer information
	exports     map[string]string
	dumpProfile bool
	dumpLayers  bool
	dumpOutput  bool
	verbose     bool
	skip        bool     // no inference
	notes       []string // on what has no meaning here
}

// execFlag is a flag of trtexec: what it does here, or why nothing.
type execFlag struct {
	do      func(p *execPlan, value string) error
	switchy bool   // it has no value
	moot    string // why it has no meaning here
}

// passed makes a flag ours, of another name.
func passed(name string) execFlag {
	return execFlag{do: func(p *execPlan, v string) error { p.args = append(p.args, "--"+name+"="+v); return nil }}
}

// switched makes a flag without a value, or with true or false.
func switched(to func(*execPlan) *bool) execFlag {
	return execFlag{switchy: true, do: func(p *execPlan, v string) error {
		on, err := strconv.ParseBool(cmp.Or(v, "true"))
		if err != nil {
			return fmt.Errorf("%q: want true or false", v)
		}
		*to(p) = on
		return nil
	}}
}

// moot makes a flag that does nothing here.
func moot(why string) execFlag { return execFlag{moot: why} }

// exported makes a flag that names a file to write.
func exported(what string) execFlag {
	return execFlag{do: func(p *execPlan, v string) error { p.exports[what] = v; return nil }}
}

// counted makes a flag of a number.
func counted(least float64, to func(*execPlan) *float64) execFlag {
	return execFlag{do: func(p *execPlan, v string) (err error) {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= least && n < 1e6) {
			return fmt.Errorf("%q: want a number from %g on", v, least)
		}
		*to(p) = n
		return nil
	}}
}

// whole makes a flag of a whole number.
func whole(to func(*execPlan) *int) execFlag {
	return execFlag{do: func(p *execPlan, v string) error {
		const most = 1e6
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > most {
			return fmt.Errorf("%q: want 1 to %d", v, int(most))
		}
		*to(p) = n
		return nil
	}}
}

// percentiles reads a list of them.
func percentiles(p *execPlan, list string) error {
	p.percentiles = nil
	for text := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= 100) {
			return fmt.Errorf("%q: want numbers from 0 to 100 with commas between them", list)
		}
		p.percentiles = append(p.percentiles, v)
	}
	return nil
}

// rawInputs reads names of inputs with their files, as in 'x':x.bin,mask:mask.bin. Names may have colons, files none.
func rawInputs(p *execPlan, list string) error {
	p.inputs = map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		at := strings.LastIndexByte(pair, ':')
		if at < 0 {
			return fmt.Errorf("%q: want INPUT:FILE, with commas between several", pair)
		}
		name, file := strings.Trim(pair[:at], "'"), pair[at+1:]
		if _, twice := p.inputs[name]; twice || file == "" {
			return fmt.Errorf("%q: want one file for each input, as INPUT:FILE", list)
		}
		p.inputs[name] = file
	}
	return nil
}

// The reasons for which flags have no meaning here.
const (
	oneStream   = "inferences run one after the other in one stream"
	ownMemory   = "the planner takes what the arena needs; --max-memory limits it"
	ownPolicy   = "tactics are timed as they always are"
	ownPlatform = "an engine here runs on the device it was built for"
	precise     = "FP32 is FP32 here"
	noType      = "there is no such precision here: layers stay as they are"
	always      = "it is always so here"
	ownTypes    = "layers have the model's types where neither --fp16, --int8 nor --best is given"
	ownFormats  = "inputs and outputs have the types and layouts of the model"
	onlyCUDA    = "the device is chosen by --backend, as in --backend=cuda:1"
	sweeps      = "trtui bench --sweep contexts=1..4 measures several at a time"
	cachedTimes = "times are kept in the cache that --timing-cache names, and what is not there is measured"
	inFull      = "layers are told in full"
	noSparsity  = "no kernel here leaves out weights that are zero"
	toRun       = "--exportOutput writes what a model computes, and trtui run --save-outputs does as .npz"
	toInspect   = "trtui inspect engine shows the profiles of an engine"
	onlyDLA     = "no device here is a DLA"
	ownPlugins  = "--plugin loads ops, as WebAssembly modules; libraries of TensorRT's are for TensorRT"
	ownWeights  = "weights are in memory as a whole; --max-memory limits what a process takes"
	ownReading  = "an engine is read once, and its code is compiled in memory"
	ownParser   = "the model is imported as ONNX defines it"
	toWatch     = "trtui run --per-layer compares what is between layers, trtui debug reduce narrows a failure down"
	toRefit     = "trtui refit gives an engine other weights, and says what can be given"
	forSafety   = "there is no runtime for functional safety here"
	ofData      = "calibration runs at the shapes of its data"
	ofShapes    = "--shapes and --maxShapes say how large a batch is"
	fusedAlways = "passes find attention and say why not: trtui inspect passes; --disable switches one off"
)

// The commands that do what other flags of trtexec ask for in place of a build and its measurement.
const (
	byRefit   = "trtui refit ENGINE --weights MODEL.onnx -o FILE gives an engine other weights"
	byONNX    = "--onnx names a model, and formats before ONNX are not read"
	byInspect = "trtui inspect engine FILE tells by which version an engine was built"
	byRun     = "trtui run MODEL --data INPUTS --load-outputs FILE --atol N compares with outputs that are known"
	byTuning  = "there are no build routes here: trtui tune-precision searches for the precision of each layer, trtui bench --ablate measures what each optimisation is worth"
)

// elsewhere makes a flag that asks for something else than a build and its measurement, which another command does.
func elsewhere(by string) execFlag {
	return execFlag{switchy: true, do: func(_ *execPlan, v string) error {
		if strings.EqualFold(v, "false") {
			return nil
		}
		return errors.New("exec does not do that: " + by)
	}}
}

// rangeFlags are those of a profile's shapes.
var rangeFlags = []string{"minShapes", "optShapes", "maxShapes"}

// execFlags are the flags of trtexec, of releases 8 to 11.
func execFlags() map[string]execFlag {
	model := func(engine bool) execFlag {
		return execFlag{do: func(p *execPlan, v string) error {
			if p.model != "" {
				return fmt.Errorf("%s was given already", p.model)
			}
			p.model, p.loads = v, engine
			return nil
		}}
	}
	skip := switched(func(p *execPlan) *bool { return &p.skip })
	flags := map[string]execFlag{
		"onnx": model(false), "loadEngine": model(true), "saveEngine": {do: func(p *execPlan, v string) error { p.save = v; return nil }},
		"fp16": switched(func(p *execPlan) *bool { return &p.fp16 }), "int8": switched(func(p *execPlan) *bool { return &p.int8 }), "best": switched(func(p *execPlan) *bool { return &p.best }),
		"shapes": {do: func(p *execPlan, v string) error { p.shapes = v; return nil }}, "minShapes": passed("minShapes"), "optShapes": passed("optShapes"), "maxShapes": passed("maxShapes"), "profile": passed("profile"),
		"useProfile": {do: func(p *execPlan, v string) error { p.profile = v; return nil }},
		"batch":      passed("batch"), "calib": passed("ranges"), "timingCacheFile": passed("timing-cache"), "layerPrecisions": passed("layer-precisions"),
		"precisionConstraints": passed("precision-constraints"), "seed": passed("seed"),
		"warmUp": counted(0, func(p *execPlan) *float64 { return &p.warmUp }), "duration": counted(0, func(p *execPlan) *float64 { return &p.duration }),
		"iterations": whole(func(p *execPlan) *int { return &p.iterations }), "avgRuns": whole(func(p *execPlan) *int { return &p.average }),
		"percentile": {do: percentiles}, "loadInputs": {do: rawInputs},
		"exportOutput": exported("output"), "dumpOutput": switched(func(p *execPlan) *bool { return &p.dumpOutput }),
		"exportTimes": exported("times"), "exportProfile": exported("profile"), "exportLayerInfo": exported("layers"),
		"dumpProfile": switched(func(p *execPlan) *bool { return &p.dumpProfile }), "dumpLayerInfo": switched(func(p *execPlan) *bool { return &p.dumpLayers }),
		"skipInference": skip, "buildOnly": skip, "verbose": switched(func(p *execPlan) *bool { return &p.verbose }),
		"layout": {do: func(p *execPlan, v string) error { p.layout = v; return nil }}, // ours
	}
	for why, names := range map[string]string{
		sweeps: "streams infStreams", cachedTimes: "noBuilderCache errorOnTimingCacheMiss", inFull: "profilingVerbosity", noSparsity: "sparsity",
		toRun: "dumpRawBindingsToFile", toInspect: "dumpOptimizationProfile",
		oneStream: "threads useSpinWait noSpinWait noCudaGraph includeDataTransfers noDataTransfers useCudaGraph useManagedMemory exposeDMA sleepTime idleTime", ownMemory: "workspace memPoolSize allocationStrategy",
		ownPolicy:   "builderOptimizationLevel tacticSources avgTiming minTiming maxTactics tilingOptimizationLevel l2LimitForTiling maxAuxStreams preview nvtxMode consistency heuristic",
		ownPlatform: "versionCompatible vc hardwareCompatibilityLevel refit weightless stripWeights stripAllWeights excludeLeanRuntime useRuntime leanDLLPath runtimePlatform cpuOnly safe restricted buildDLAStandalone allowGPUFallback useDLACore",
		precise:     "noTF32", noType: "bf16 fp8 fp4 int4", always: "separateProfileRun explicitBatch explicitPrecision markUnfusedTensorsAsDebugTensors directIO",
		ownTypes: "stronglyTyped", ownFormats: "inputIOFormats outputIOFormats layerOutputTypes layerDeviceTypes", onlyCUDA: "device",
		onlyDLA:    "adjustForDLA reportCapabilityDLA uint8AsymmetricQuantizationDLA",
		ownPlugins: "plugins dynamicPlugins staticPlugins safetyPlugins setPluginsToSerialize ignoreParsedPluginLibs enablePluginOverride",
		ownWeights: "allowWeightStreaming weightStreamingBudget persistentCacheRatio monitorMemory",
		ownReading: "asyncFileReader noCompilationCache tempdir tempfileControls timeDeserialize timeRefit saveAllEngines",
		ownParser:  "pluginInstanceNorm pi nativeInstanceNorm ni distributiveIndependence", ofData: "calibProfile minShapesCalib optShapesCalib maxShapesCalib",
		ofShapes: "maxBatch", toRefit: "dumpRefit",
		toWatch:   "markDebug saveDebugTensors saveAllDebugTensors",
		forSafety: "dumpKernelText remoteAutoTuningConfig std serialized", fusedAlways: "decomposableAttentions",
	} {
		for name := range strings.FieldsSeq(names) {
			flags[name] = moot(why)
		}
	}
	for by, names := range map[string]string{
		byRefit: "refitFromOnnx", byONNX: "model deploy output uff uffInput uffNHWC", byInspect: "getPlanVersionOnly", byRun: "loadRefOutputs refPair accuracyAlgorithm accuracyThreshold atol rtol",
		byTuning: "tuneBuildRoutes tuneBuildRouteFile setBuildRoute helpBuildRoute tuningCacheFile tuningResultFile tuningSearch tuningTimeOut dryRun continue",
	} {
		for name := range strings.FieldsSeq(names) {
			flags[name] = elsewhere(by)
		}
	}
	return flags
}

// parseExec reads a command line of trtexec, whose flags have one dash or two and a value behind "=", or the next word. ours are the flags
// of trtui that it may have besides.
func parseExec(args []string, ours *pflag.FlagSet) (*execPlan, error) {
	p := &execPlan{exports: map[string]string{}, percentiles: exchange.UsualPercentiles(), iterations: 10, warmUp: 200, duration: 3, layout: "trt10"}
	known := execFlags()
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		switch {
		case args[i] == "":
			return nil, fmt.Errorf("argument %d is %w", i+1, errEmpty)
		case name == "" || !strings.HasPrefix(args[i], "-"):
			return nil, fmt.Errorf("%q is no flag, and trtexec takes nothing else: --onnx=FILE names a model, --loadEngine=FILE an engine", args[i])
		}
		flag, ok := known[name]
		own := ours.Lookup(name)
		switch {
		case own != nil && !strings.HasPrefix(args[i], "--"): // one dash is trtexec's
			own = nil
		case len(name) == 1 && strings.HasPrefix(args[i], "-"+name):
			own = ours.ShorthandLookup(name)
		}
		if !ok && own != nil {
			flag, ok = passed(own.Name), true
			flag.switchy = own.NoOptDefVal != ""
			if flag.switchy && !given {
				value = own.NoOptDefVal
			}
		}
		if !ok {
			ours.VisitAll(func(f *pflag.Flag) { known[f.Name] = passed(f.Name) })
			return nil, fmt.Errorf("%q is no flag of trtexec%s", args[i], config.DidYouMean(name, slices.Sorted(maps.Keys(known))))
		}
		if next := i + 1; !given && !flag.switchy && next < len(args) && !strings.HasPrefix(args[next], "-") {
			value, given = args[next], true
			i++
		}
		switch {
		case flag.moot != "":
			p.notes = append(p.notes, fmt.Sprintf("--%s has no meaning here: %s", name, flag.moot))
			continue
		case given && value == "":
			return nil, fmt.Errorf("--%s is %w", name, errEmpty)
		case !flag.switchy && !given:
			return nil, fmt.Errorf("--%s: its value is missing", name)
		}
		if err := flag.do(p, value); err != nil {
			return nil, fmt.Errorf("--%s: %w", name, err)
		}
	}
	if p.verbose {
		p.args = append(p.args, "--verbose")
	}
	p.fillShapes()
	given := func(flag string) bool {
		return slices.ContainsFunc(p.args, func(a string) bool { return strings.HasPrefix(a, "--"+flag+"=") })
	}
	p.ranged = p.shapes != "" && given("optShapes") || p.profile != "" && (given("optShapes") || given("maxShapes"))
	if !p.ranged {
		p.args = append(p.args, p.running()...)
	}
	switch {
	case p.int8 || p.best:
		p.args = append(p.args, "--precision=int8")
	case p.fp16:
		p.args = append(p.args, "--precision=fp16")
	}
	return p, nil
}

// fillShapes gives the profiles what they lack of least, best and largest shapes, as trtexec does: the best ones, of which the largest and
// then the least take the place, stand for the others. Best ones alone are those of an engine without a range.
func (p *execPlan) fillShapes() {
	at, list := 0, []map[string]string{{}}
	for _, arg := range p.args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if k, err := strconv.Atoi(value); name == "profile" && err == nil && k >= 0 && k < config.MaxProfiles {
			for at = k; at >= len(list); {
				list = append(list, map[string]string{})
			}
		}
		if slices.Contains(rangeFlags, name) {
			list[at][name] = value
		}
	}
	for k, has := range list {
		best := "optShapes"
		for _, name := range []string{"maxShapes", "minShapes"} {
			if has[best] == "" {
				best = name
			}
		}
		if has[best] == "" || len(has) == 1 && best == "optShapes" {
			continue
		}
		if len(list) > 1 {
			p.args = append(p.args, "--profile="+strconv.Itoa(k))
		}
		var filled []string
		for _, name := range rangeFlags {
			if has[name] == "" {
				filled = append(filled, "--"+name)
				p.args = append(p.args, "--"+name+"="+has[best])
			}
		}
		if len(filled) > 0 {
			p.notes = append(p.notes, fmt.Sprintf("--%s %s is %s, too", best, has[best], strings.Join(filled, " and ")))
		}
	}
}

// running returns our flags that say at which shapes an engine runs, and in which profile.
func (p *execPlan) running() (args []string) {
	if p.shapes != "" {
		args = append(args, "--shapes="+p.shapes)
	}
	if p.profile != "" {
		args = append(args, "--useProfile="+p.profile)
	}
	return args
}

// allowed returns the precisions that layers may run in, the least last; nil where one is asked for, which holds for all that has a
// kernel for it.
func (p *execPlan) allowed() []config.Precision {
	if !p.best && !(p.fp16 && p.int8) {
		return nil
	}
	return []config.Precision{config.FP32, config.FP16, config.INT8}
}

// spareInputs refuses to write over the model that is read, or what flags of ours name, and what is never written over.
func (p *execPlan) spareInputs(ours *pflag.FlagSet) error {
	inputs := slices.Concat(filesRead(ours), []string{p.model}, slices.Sorted(maps.Values(p.inputs)))
	for _, path := range append(slices.Sorted(maps.Values(p.exports)), p.save) {
		if err := spare("a file to write,", path, inputs); err != nil {
			return err
		}
		if err := host.Writable(path); err != nil {
			return err
		}
	}
	return nil
}
