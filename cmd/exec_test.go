package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/report"
	"github.com/trtui/trtui/testdata"
)

// logLine is a line as trtexec's parsers take it.
var logLine = regexp.MustCompile(`^\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] \[[IWE]\] ?`)

// TestExec builds, measures and writes by trtexec's flags, and what it writes is read.
func TestExec(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	model := filepath.Join("..", "testdata", "digits.onnx")
	out, _ := command(t, 0, "exec", "--onnx="+model, "-fp16", "--useCudaGraph", "--warmUp=0", "--duration=0", "--iterations", "200", "--dumpProfile", "--quiet",
		"--saveEngine="+file("m.engine"), "--exportTimes="+file("t.json"), "--exportProfile="+file("p.json"), "--exportLayerInfo="+file("l.json"))
	heading, keys := "", map[string]bool{}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "&&&& ") {
			continue
		}
		if !logLine.MatchString(line) {
			t.Errorf("not a line of the log: %q", line)
		}
		text := strings.TrimSpace(logLine.ReplaceAllString(line, ""))
		if inner, ok := strings.CutPrefix(text, "=== "); ok {
			heading = strings.TrimSuffix(inner, " ===")
		} else if key, _, ok := strings.Cut(text, ": "); ok {
			keys[heading+"/"+key] = true
		}
	}
	for _, want := range []string{"Model Options/Format", "Build Options/Precision", "Inference Options/Iterations", "Device Information/Selected Device", "Performance summary/Throughput",
		"Performance summary/Latency", "Performance summary/GPU Compute Time", "Performance summary/Total Host Walltime"} {
		if !keys[want] {
			t.Errorf("the log lacks %s:\n%s", want, out)
		}
	}
	var walltime, compute float64 // of the timed runs alone: neither of those that time layers nor of the copies'
	if _, err := fmt.Sscanf(out[max(0, strings.Index(out, "Total Host Walltime")):], "Total Host Walltime: %g s", &walltime); err != nil {
		t.Error(err)
	}
	if _, err := fmt.Sscanf(out[max(0, strings.Index(out, "Total GPU Compute Time")):], "Total GPU Compute Time: %g s", &compute); err != nil {
		t.Error(err)
	}
	if compute < 0.85*walltime || compute > walltime {
		t.Errorf("%g s of computing in %g s", compute, walltime)
	}
	for _, want := range []string{"&&&& PASSED", "Precision: FP32+FP16", "--useCudaGraph has no meaning here", "=== Profile (", "Time(%)   Layer"} {
		if !strings.Contains(out, want) {
			t.Errorf("the log lacks %q:\n%s", want, out)
		}
	}
	out, _ = command(t, 0, file("t.json"), file("p.json"), file("l.json"))
	if !strings.Contains(out, "l.json  fp16  trtui") || !strings.Contains(out, "slowest layers") {
		t.Errorf("read again:\n%s", out)
	}
	out, _ = command(t, 0, "exec", "--loadEngine="+file("m.engine"), "--skipInference", "--dumpLayerInfo", "--layout=trt11", "--exportLayerInfo="+file("l11.json"), "--quiet")
	if data, err := os.ReadFile(file("l11.json")); err != nil || !strings.Contains(string(data), "I/O Tensors") || strings.Contains(out, "Throughput") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestExecRandomRanges: that ranges come from random input is said once, whether or not the engine is kept, and in the form of the log.
func TestExecRandomRanges(t *testing.T) {
	for _, ranged := range [][]string{nil, {"--minShapes=image:1x1x32x32", "--maxShapes=image:2x1x32x32"}} {
		args := append(ranged, "--onnx="+digitsFile, "--int8", "--rounding=nearest", "--equalization=off", "--bias-correction=off", "--quiet", "--saveEngine="+filepath.Join(t.TempDir(), "x.engine"), "--warmUp=0", "--duration=0", "--iterations=1")
		out, errs := command(t, 0, append([]string{"exec"}, args...)...)
		if n := strings.Count(out, "random calibration"); n != 1 || strings.Contains(errs, "random calibration") {
			t.Errorf("%v: said %d times\n%s%s", args, n, errs, out)
		}
	}
}

// TestExecCalib: the ranges of a calibration cache are not said to come from a calibrator or from random input.
func TestExecCalib(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	cache := filepath.Join(t.TempDir(), "calib.cache")
	command(t, 0, "calibrate", digitsFile, "-q", "--calibration-cache", cache)
	out, _ := command(t, 0, "exec", "--onnx="+digitsFile, "--int8", "--calib="+cache, "--warmUp=0", "--duration=0", "--iterations=2", "--quiet")
	if !strings.Contains(out, "Calibration: "+cache) || strings.Contains(out, "random calibration") {
		t.Error(out)
	}
}

// TestExecBest: with several precisions allowed all are measured, and it is said what is built of them.
func TestExecBest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model in three precisions")
	}
	cache := filepath.Join(t.TempDir(), "calib.cache")
	command(t, 0, "calibrate", digitsFile, "-q", "--calibration-cache", cache)
	for _, flags := range [][]string{{"--best"}, {"--int8", "--fp16"}} {
		out, _ := command(t, 0, append([]string{"exec", "--onnx=" + digitsFile, "--calib=" + cache, "--warmUp=0", "--duration=0", "--iterations=2", "--quiet"}, flags...)...)
		for _, want := range []string{"Precision: FP32+FP16+INT8", "All layers in fp32: ", "All layers in fp16: ", "All layers in int8: ", "is built"} {
			if !strings.Contains(out, want) {
				t.Errorf("%v: %q is missing in\n%s", flags, want, out)
			}
		}
	}
}

// TestExecBestText: the ratio that is said is that of the times beside it, and what rounds have instead is said as that.
func TestExecBestText(t *testing.T) {
	fp32, int8 := config.Config{Precision: config.FP32}, config.Config{Precision: config.INT8, Calibrator: "mse"}
	best := &sessions.Best{Config: int8, Mixed: &int8, Beside: &report.Speed{Ratio: 1.5, SideBySide: true, Significant: true}, Times: [2]time.Duration{3 * time.Millisecond, 2 * time.Millisecond}}
	name := int8.Label(false)
	for _, c := range []struct{ text, want string }{
		{execBestText(best, false), "Each layer in its fastest precision (" + name + "): 2.000 ms beside 3.000 ms of the fastest of these, 1.50x as fast; it is built"},
		{execBestText(&sessions.Best{Config: int8, Mixed: &int8, Beside: &report.Speed{Ratio: 1.2, SideBySide: true, Significant: true}, Times: best.Times}, false),
			"Each layer in its fastest precision (" + name + "): 2.000 ms beside 3.000 ms of the fastest of these, 1.50x as fast, 1.20x in rounds; it is built"},
		{execBestText(&sessions.Best{Config: fp32, Mixed: &int8, Beside: &report.Speed{Ratio: 1}, Times: [2]time.Duration{2 * time.Millisecond, 2 * time.Millisecond}}, false),
			"Each layer in its fastest precision (" + name + "): 2.000 ms beside 2.000 ms of the fastest of these, 1.00x as fast, which is noise or slower: fp32 is built"},
		{execBestText(&sessions.Best{Config: fp32}, false), "No layer is faster in another precision than fp32, beyond noise: it is built"},
	} {
		if c.text != c.want {
			t.Errorf("%s\nwant\n%s", c.text, c.want)
		}
	}
}

// TestExecOutputs: what trtexec's flags write of the outputs for inputs as bytes is what the layers' definition makes of them.
func TestExecOutputs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	n, err := onnx.Parse(graph.Ops(), "digits", testdata.Model())
	if err != nil {
		t.Fatal(err)
	}
	x, in := numeric.NewValue(numeric.F32, 2, 1, 32, 32), n.Inputs[0].Name
	for i := range x.F32() {
		x.F32()[i] = float32(i%97) / 97
	}
	want, err := n.Eval(t.Context(), map[string]numeric.Value{in: x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	raw, file := filepath.Join(dir, "x.bin"), filepath.Join(dir, "out.json")
	if err := os.WriteFile(raw, x.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	quick := []string{"exec", "--onnx=" + digitsFile, "--warmUp=0", "--duration=0", "--iterations=5", "--quiet"}
	out, _ := command(t, 0, append(quick, "--loadInputs='"+in+"':"+raw, "--batch=2", "--exportOutput="+file, "--dumpOutput", "--percentile=50,99.9", "--avgRuns=2")...)
	for _, says := range []string{"probabilities: (2x10)", "percentile(50%)", "percentile(99.9%)", "Average on 2 runs - GPU latency: ", "Average on 1 runs"} {
		if !strings.Contains(out, says) {
			t.Errorf("the log lacks %q:\n%s", says, out)
		}
	}
	var got []struct {
		Name, Dimensions string
		Values           []float32
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &got)
	}
	if err != nil || len(got) != 1 || got[0].Name != "probabilities" || got[0].Dimensions != "2x10" || len(got[0].Values) != 20 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, v := range want["probabilities"].F32() {
		if d := got[0].Values[i] - v; d > 1e-5 || d < -1e-5 {
			t.Errorf("element %d is %g, want %g", i, got[0].Values[i], v)
		}
	}
	for says, args := range map[string][]string{
		"is for input \"other\", which the model does not have": {"--loadInputs=other:" + raw},
		"are not items of input " + in:                          {"--loadInputs=" + in + ":" + file},
		"takes 12288 bytes, and the file has 8192":              {"--loadInputs=" + in + ":" + raw, "--shapes=" + in + ":3x1x32x32"},
		"input " + in + ", f32[3 1 32 32], takes 12288":         {"--loadInputs=" + in + ":" + raw, "--batch=3"},
		"want INPUT:FILE":                                       {"--loadInputs=" + raw},
		"give one of the two":                                   {"--loadInputs=" + in + ":" + raw, "--data=" + raw},
		"want numbers from 0 to 100":                            {"--percentile=101"},
		"\"0\": want 1 to 1000000":                              {"--avgRuns=0"},
	} {
		if _, got := command(t, exitFailure, append(slices.Clone(quick), args...)...); !strings.Contains(got, says) {
			t.Errorf("%v: %q, want %q", args, got, says)
		}
	}
}

// TestExecErrors refuses what trtexec does not have.
func TestExecErrors(t *testing.T) {
	for says, args := range map[string][]string{
		`"--onx=a" is no flag of trtexec; did you mean`:                     {"--onx=a"},
		`"--precison=int8" is no flag of trtexec; did you mean "precision"`: {"--onnx=" + digitsFile, "--precison=int8"},
		"nothing to measure: --onnx=FILE names a model":                     {"-q"},
		"--loadEngine: digits.onnx is no engine: --onnx=":                   {"-q", "--loadEngine=" + digitsFile},
		"\"-z\" is no flag of trtexec\n":                                    {"-z"},
		"none2.onnx":                                                        {"-q", "--onnx=none2.onnx"},
		`"model.onnx" is no flag`:                                           {"model.onnx"},
		`"-" is no flag, and trtexec takes nothing else: --onnx=FILE`:       {"-"},
		`"--" is no flag, and`:                                              {"--onnx=a.onnx", "--"},
		"argument 2 is empty: is the variable set":                          {"-q", ""},
		"--onnx is empty: is the variable set":                              {"--onnx="},
		"--shapes is empty":                                                 {"--shapes", ""},
		`--fp16: "maybe": want true or false`:                               {"--fp16=maybe"},
		"--onnx: its value is missing":                                      {"--onnx"},
		"--loadEngine: a.onnx was given already":                            {"--onnx=a.onnx", "--loadEngine=b"},
		`--iterations: "many": want 1 to 1000000`:                           {"--iterations=many"},
		`--duration: "-1": want a number from 0 on`:                         {"--duration=-1"},
		`--layout "trt9"`:                                                   {"--layout=trt9"},
		"none.onnx":                                                         {"--onnx=none.onnx"},
		"--precision-constraints \"x\": want prefer, obey or no":            {"--precisionConstraints=x"},
	} {
		if _, got := command(t, exitFailure, append([]string{"exec"}, args...)...); !strings.Contains(got, says) {
			t.Errorf("%v: %q, want %q", args, got, says)
		}
	}
	for _, arg := range []string{"--onnx=none.onnx", "--iterations=many", "--precisionConstraints=x", "-"} { // whatever is wrong
		if out, _ := command(t, exitFailure, "exec", arg); !strings.Contains(out, "&&&& RUNNING trtui.exec # exec "+arg+"\n&&&& FAILED") {
			t.Errorf("%s: %q", arg, out)
		}
	}
	if out, _ := command(t, 0, "exec", "--help"); !strings.Contains(out, "--exportLayerInfo") {
		t.Errorf("%q", out)
	}
}

// TestExecShapes: shapes of a range that are not given are those that trtexec takes them to be.
func TestExecShapes(t *testing.T) {
	const x = "Shapes=x:"
	for args, want := range map[string]string{
		"--min" + x + "1":                                         "--min" + x + "1 --opt" + x + "1 --max" + x + "1",
		"--max" + x + "4":                                         "--max" + x + "4 --min" + x + "4 --opt" + x + "4",
		"--opt" + x + "2":                                         "--opt" + x + "2",
		"--min" + x + "1 --max" + x + "4":                         "--min" + x + "1 --max" + x + "4 --opt" + x + "4",
		"--min" + x + "1 --opt" + x + "2":                         "--min" + x + "1 --opt" + x + "2 --max" + x + "2",
		"--opt" + x + "2 --max" + x + "4":                         "--opt" + x + "2 --max" + x + "4 --min" + x + "2",
		"--profile=1 --min" + x + "1 --profile=0 --opt" + x + "3": "--profile=1 --min" + x + "1 --profile=0 --opt" + x + "3 --profile=1 --opt" + x + "1 --max" + x + "1",
		"--shapes=x:2":                                            "--shapes=x:2", "--profile=1": "--profile=1",
	} {
		p, err := parseExec(strings.Fields(args), buildCommand(tables{backends: testTable()}).Flags())
		if err != nil || strings.Join(p.args, " ") != want {
			t.Errorf("%s: %+v, %v, want %s", args, p, err, want)
		}
	}
}

// TestExecSwitches: a flag that is said to be false is as one that is not there.
func TestExecSwitches(t *testing.T) {
	p, err := parseExec(strings.Fields("--fp16 --int8=true --best=false --fp16=false --dumpProfile=false --getPlanVersionOnly=false --verbose=false"), buildCommand(tables{backends: testTable()}).Flags())
	if err != nil || p.fp16 || !p.int8 || p.best || p.dumpProfile || p.allowed() != nil || !slices.Equal(p.args, []string{"--precision=int8"}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// trtexecFlags are those that trtexec lists in any of its releases 8.6 to 11.1.
const trtexecFlags = "accuracyAlgorithm accuracyThreshold adjustForDLA allocationStrategy allowGPUFallback allowWeightStreaming " +
	"asyncFileReader atol avgRuns avgTiming batch best bf16 buildDLAStandalone buildOnly builderOptimizationLevel calib " +
	"calibProfile consistency continue cpuOnly decomposableAttentions deploy device directIO distributiveIndependence dryRun " +
	"dumpKernelText dumpLayerInfo dumpOptimizationProfile dumpOutput dumpProfile dumpRawBindingsToFile dumpRefit duration " +
	"dynamicPlugins enablePluginOverride errorOnTimingCacheMiss excludeLeanRuntime explicitBatch explicitPrecision " +
	"exportLayerInfo exportOutput exportProfile exportTimes exposeDMA fp16 fp8 getPlanVersionOnly hardwareCompatibilityLevel " +
	"helpBuildRoute heuristic idleTime ignoreParsedPluginLibs includeDataTransfers infStreams inputIOFormats int4 int8 " +
	"iterations l2LimitForTiling layerDeviceTypes layerOutputTypes layerPrecisions leanDLLPath loadEngine loadInputs " +
	"loadRefOutputs markDebug markUnfusedTensorsAsDebugTensors maxAuxStreams maxBatch maxShapes maxShapesCalib maxTactics " +
	"memPoolSize minShapes minShapesCalib minTiming model monitorMemory nativeInstanceNorm ni noBuilderCache " +
	"noCompilationCache noCudaGraph noDataTransfers noSpinWait noTF32 nvtxMode onnx optShapes optShapesCalib output " +
	"outputIOFormats percentile persistentCacheRatio pi pluginInstanceNorm plugins precisionConstraints preview profile " +
	"profilingVerbosity refPair refit refitFromOnnx remoteAutoTuningConfig reportCapabilityDLA restricted rtol " +
	"runtimePlatform safe safetyPlugins saveAllDebugTensors saveAllEngines saveDebugTensors saveEngine separateProfileRun " +
	"serialized setBuildRoute setPluginsToSerialize shapes skipInference sleepTime sparsity staticPlugins std streams " +
	"stripAllWeights stripWeights stronglyTyped tacticSources tempdir tempfileControls threads tilingOptimizationLevel " +
	"timeDeserialize timeRefit timingCacheFile tuneBuildRouteFile tuneBuildRoutes tuningCacheFile tuningResultFile " +
	"tuningSearch tuningTimeOut uff uffInput uffNHWC uint8AsymmetricQuantizationDLA useCudaGraph useDLACore useManagedMemory " +
	"useProfile useRuntime useSpinWait vc verbose versionCompatible warmUp weightStreamingBudget weightless workspace"

// TestExecFlags: every flag of trtexec does something, is said to have no meaning, or names the command that does it.
func TestExecFlags(t *testing.T) {
	flags := execFlags()
	for name := range strings.FieldsSeq(trtexecFlags) {
		if _, ok := flags[name]; !ok {
			t.Errorf("--%s is not known", name)
		}
	}
	for args, want := range map[string]string{
		"--loadEngine=x --refitFromOnnx=m.onnx": "exec does not do that: trtui refit", "--tuneBuildRoutes=a": "trtui tune-precision", "--getPlanVersionOnly": "trtui inspect engine",
		"--loadRefOutputs=y:y.bin": "trtui run MODEL --data INPUTS --load-outputs", "--noSuchFlag": "is no flag of trtexec",
	} {
		if _, errs := command(t, exitFailure, append([]string{"exec"}, strings.Fields(args)...)...); !strings.Contains(errs, want) {
			t.Errorf("%s: %s", args, errs)
		}
	}
}
