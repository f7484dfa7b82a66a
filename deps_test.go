package trtui_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/trtui/trtui/"

// allowed is a statement of policy: which packages of this module each may import, test files aside. A package that is
// not listed may import none. Change it only together with ARCHITECTURE.md.
var allowed = map[string][]string{
	".": {"core/graph", "core/graph/numeric", "core/graph/onnx", "core/graph/pass", "core/graph/symbolic", "core/quant", "core/run", "core/build", "internal/host", "kernels", "kernels/cpu"},

	"core/graph":                  {"core/graph/elementwise", "core/graph/images", "core/graph/numeric", "core/graph/symbolic", "internal/host"},
	"core/graph/elementwise":      {"core/graph/numeric", "core/graph/symbolic"},
	"core/graph/onnx":             {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/symbolic", "internal/host"},
	"core/graph/pass":             {"core/graph", "core/graph/numeric", "core/graph/symbolic"},
	"core/graph/pass/match":       {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/symbolic"},
	"core/graph/passes":           {"core/graph", "core/graph/pass", "core/graph/passes/fuse", "core/graph/passes/quantise", "core/graph/passes/recognise", "core/graph/passes/simplify"},
	"core/graph/passes/simplify":  {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/pass", "core/graph/pass/match", "core/graph/symbolic"},
	"core/graph/passes/recognise": {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/pass", "core/graph/pass/match", "core/graph/symbolic"},
	"core/graph/passes/fuse":      {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/pass", "core/graph/pass/match", "core/graph/symbolic"},
	"core/graph/passes/quantise":  {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/pass", "core/graph/pass/match", "core/graph/symbolic"},
	"core/graph/rules":            {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/pass", "core/graph/passes", "core/graph/passes/quantise", "core/graph/symbolic"},
	"core/quant":                  {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/symbolic"},
	"core/plugin":                 {"core/graph", "core/graph/numeric", "core/graph/symbolic", "internal/host"},
	"core/run":                    {"core/graph", "core/graph/numeric", "core/graph/symbolic", "kernels"},
	"internal/suite":              {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/symbolic", "core/run", "kernels"},
	"internal/runtest":            {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/symbolic", "core/run", "internal/suite", "kernels"},
	"core/build":                  {"core/graph", "core/graph/numeric", "core/graph/pass", "core/graph/passes", "core/graph/passes/quantise", "core/graph/symbolic", "core/quant", "core/run", "internal/host", "kernels"},
	"internal/conformance":        {"core/graph", "core/graph/numeric", "core/graph/onnx", "core/graph/pass", "core/run", "core/build", "internal/host"},

	"kernels":                           {"core/graph", "core/graph/numeric"},
	"kernels/cpu":                       {"core/graph", "core/graph/numeric", "core/run", "internal/host", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/attention", "kernels/cpu/internal/convolutions", "kernels/cpu/internal/moves", "kernels/cpu/internal/pointwise", "kernels/cpu/internal/poolings", "kernels/cpu/internal/products", "kernels/cpu/internal/recurrent", "kernels/cpu/internal/reductions", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/work":         {"core/graph", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm"},
	"kernels/cpu/internal/programs":     {"core/graph", "core/graph/elementwise", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/quantised":    {"core/graph", "core/graph/elementwise", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/programs", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/windows":      {"kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/products":     {"core/graph", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/programs", "kernels/cpu/internal/quantised", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/attention":    {"core/graph", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/products", "kernels/cpu/internal/programs", "kernels/cpu/internal/quantised", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/convolutions": {"core/graph", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/products", "kernels/cpu/internal/programs", "kernels/cpu/internal/quantised", "kernels/cpu/internal/windows", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/poolings":     {"core/graph", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/programs", "kernels/cpu/internal/quantised", "kernels/cpu/internal/windows", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/recurrent":    {"core/graph", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/products", "kernels/cpu/internal/programs", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/reductions":   {"core/graph", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/programs", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/pointwise":    {"core/graph", "core/graph/elementwise", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/programs", "kernels/cpu/internal/quantised", "kernels/cpu/internal/work"},
	"kernels/cpu/internal/moves":        {"core/graph", "core/graph/numeric", "kernels", "kernels/cpu/internal/asm", "kernels/cpu/internal/programs", "kernels/cpu/internal/work"},

	"kernels/cuda":                     {"core/graph", "core/run", "internal/host", "kernels", "kernels/cuda/driver", "kernels/cuda/internal/attention", "kernels/cuda/internal/emit", "kernels/cuda/internal/moves", "kernels/cuda/internal/pointwise", "kernels/cuda/internal/products", "kernels/cuda/internal/ptx", "kernels/cuda/internal/ptxas", "kernels/cuda/internal/ptxsim", "kernels/cuda/internal/reductions", "kernels/cuda/simulator"},
	"kernels/cuda/internal/emit":       {"core/graph", "core/graph/elementwise", "core/graph/numeric", "kernels", "kernels/cuda/internal/ptx"},
	"kernels/cuda/internal/products":   {"core/graph", "core/graph/elementwise", "core/graph/numeric", "kernels", "kernels/cuda/internal/emit", "kernels/cuda/internal/ptx"},
	"kernels/cuda/internal/attention":  {"core/graph", "core/graph/numeric", "kernels", "kernels/cuda/internal/emit", "kernels/cuda/internal/ptx"},
	"kernels/cuda/internal/reductions": {"core/graph", "core/graph/elementwise", "core/graph/numeric", "kernels", "kernels/cuda/internal/emit", "kernels/cuda/internal/ptx"},
	"kernels/cuda/internal/pointwise":  {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/symbolic", "kernels", "kernels/cuda/internal/emit", "kernels/cuda/internal/ptx"},
	"kernels/cuda/internal/moves":      {"core/graph", "core/graph/numeric", "kernels", "kernels/cuda/internal/emit", "kernels/cuda/internal/ptx"},
	"kernels/cuda/bringup":             {"core/graph", "core/graph/numeric", "core/graph/symbolic", "core/run", "internal/suite", "kernels", "kernels/cuda", "kernels/cuda/driver", "kernels/cuda/internal/emit", "kernels/cuda/internal/products", "kernels/cuda/internal/ptx"},
	"kernels/cuda/internal/ptxsim":     {"kernels/cuda/internal/ptx"},
	"kernels/cuda/simulator":           {"kernels/cuda/driver", "kernels/cuda/internal/ptx", "kernels/cuda/internal/ptxsim"},
	"kernels/cuda/supervisor":          {"internal/suite", "kernels/cuda/bringup"},

	"sessions/detection": {"core/graph/numeric"},
	"sessions/dataset":   {"core/graph", "core/graph/numeric", "core/graph/onnx", "core/graph/symbolic", "internal/host", "sessions/detection"},
	"sessions/generate":  {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/symbolic", "core/run", "internal/host", "sessions/dataset"},
	"sessions/tokenizer": {"internal/host"},
	"sessions/report":    {"sessions/config"},
	"sessions/diff":      {"sessions/report"},
	"sessions/recording": {"core/graph", "core/run", "internal/host", "sessions/config", "sessions/report"},
	"sessions/compare":   {"core/graph", "core/graph/numeric", "core/graph/symbolic", "core/quant", "core/run", "sessions/report"},
	"sessions/exchange":  {"core/graph/numeric", "sessions/advice", "sessions/compare", "sessions/config", "sessions/report"},
	"sessions/advice":    {"sessions/report"},
	"sessions/budget":    {"sessions/compare", "sessions/config", "sessions/report"},
	"sessions/config":    {"core/graph", "core/graph/numeric", "core/graph/pass", "core/graph/passes", "core/graph/passes/quantise", "core/quant", "internal/host"},
	"sessions/model":     {"core/graph", "core/graph/numeric", "core/graph/symbolic", "core/graph/onnx", "core/graph/pass", "core/graph/rules", "core/quant", "core/run", "core/build", "internal/host", "sessions/compare", "sessions/config", "sessions/dataset", "sessions/report"},
	"sessions/describe":  {"core/graph", "core/graph/numeric", "core/graph/symbolic", "core/graph/onnx", "core/graph/pass", "core/graph/passes", "core/graph/passes/quantise", "core/quant", "core/run", "core/build", "sessions/compare", "sessions/config", "sessions/dataset", "sessions/model", "sessions/report"},
	"sessions/stages":    {"core/graph", "core/graph/numeric", "core/graph/symbolic", "core/graph/pass", "core/quant", "core/run", "core/build", "internal/host", "kernels", "sessions/compare", "sessions/config", "sessions/dataset", "sessions/describe", "sessions/detection", "sessions/exchange", "sessions/model", "sessions/report"},
	"sessions":           {"core/graph", "core/graph/numeric", "core/graph/symbolic", "core/graph/pass", "core/quant", "core/run", "core/build", "kernels", "sessions/compare", "sessions/config", "sessions/dataset", "sessions/describe", "sessions/diff", "sessions/model", "sessions/recording", "sessions/report", "sessions/stages"},
	"views/words":        {"sessions/report", "ui"},
	"views/pane":         {"sessions/config", "sessions/report", "ui", "views/words"},
	"views/graph":        {"sessions/config", "sessions/report", "ui", "views/pane", "views/words"},
	"views/timings":      {"sessions/report", "ui", "views/pane", "views/words"},
	"views/memory":       {"sessions/report", "ui", "views/pane", "views/words"},
	"views/calibration":  {"sessions/config", "sessions/report", "ui", "views/pane", "views/words"},
	"views/accuracy":     {"sessions/config", "sessions/report", "ui", "views/calibration", "views/pane", "views/words"},
	"views/tactics":      {"sessions/config", "sessions/report", "ui", "views/pane", "views/words"},
	"views/runtime":      {"sessions/config", "sessions/report", "ui", "views/pane", "views/words"},
	"views/recordings":   {"sessions/report", "ui", "views/pane"},
	"views/comparison":   {"sessions/diff", "sessions/report", "ui", "views/memory", "views/pane", "views/words"},
	"views/trials":       {"sessions/config", "sessions/diff", "sessions/report", "ui", "views/pane", "views/words"},
	"views/log":          {"sessions/advice", "sessions/report", "ui", "views/pane", "views/words"},
	"views/overview":     {"sessions/report", "ui", "views/graph", "views/memory", "views/pane", "views/timings", "views/trials", "views/words"},
	"views":              {"sessions/config", "sessions/report", "ui", "views/accuracy", "views/calibration", "views/comparison", "views/graph", "views/log", "views/memory", "views/overview", "views/pane", "views/recordings", "views/runtime", "views/tactics", "views/timings", "views/trials", "views/words"},
	"cmd":                {"core/graph", "core/graph/images", "core/graph/numeric", "core/graph/onnx", "core/graph/pass", "core/graph/passes", "core/plugin", "core/quant", "core/run", "internal/suite", "core/build", "internal/conformance", "internal/host", "internal/onnxruntime", "internal/reduce", "kernels", "kernels/cpu", "kernels/cuda", "kernels/cuda/bringup", "kernels/cuda/supervisor", "sessions", "sessions/advice", "sessions/budget", "sessions/compare", "sessions/config", "sessions/dataset", "sessions/describe", "sessions/detection", "sessions/diff", "sessions/exchange", "sessions/generate", "sessions/model", "sessions/recording", "sessions/report", "sessions/stages", "sessions/tokenizer", "ui", "views", "views/overview", "views/pane", "views/recordings", "views/timings", "testdata"},
	"cmd/trtui":          {"cmd"},

	"internal/reduce":           {"core/graph", "core/graph/numeric", "core/graph/onnx"},
	"internal/torture":          {"internal/host"},
	"internal/onnxruntime":      {"core/graph/numeric"},
	"internal/torture/networks": {"core/graph", "core/graph/elementwise", "core/graph/numeric", "core/graph/onnx", "core/graph/pass", "core/graph/passes", "core/graph/symbolic", "core/quant", "core/run", "core/build", "internal/onnxruntime", "internal/reduce", "kernels", "kernels/cpu", "kernels/cuda", "internal/torture"},
	"internal/torture/crash":    {"internal/host", "internal/torture", "internal/torture/files", "internal/torture/networks"},
	"internal/torture/soak":     {"internal/torture", "internal/torture/networks", "internal/torture/screen"},
	"internal/torture/faults":   {"core/graph", "core/graph/numeric", "core/graph/onnx", "core/graph/pass", "core/quant", "core/run", "core/build", "internal/reduce", "internal/torture", "internal/torture/networks", "kernels", "kernels/cpu", "kernels/cuda", "kernels/cuda/driver", "kernels/cuda/driver/drivertest", "kernels/cuda/simulator", "sessions", "sessions/config", "sessions/dataset", "sessions/generate", "sessions/model", "sessions/report", "sessions/stages"},
	"internal/torture/files":    {"core/graph", "core/graph/numeric", "internal/torture", "internal/torture/networks"},
	"internal/torture/screen":   {"internal/torture", "internal/torture/networks"},
	"scripts/torture":           {"internal/onnxruntime", "internal/torture", "internal/torture/crash", "internal/torture/faults", "internal/torture/files", "internal/torture/networks", "internal/torture/screen", "internal/torture/soak"},

	// for tests
	"views/pane/panetest":                 {"sessions/config", "sessions/report", "views/pane"},
	"kernels/cpu/internal/cputest":        {"kernels/cpu/internal/asm", "kernels/cpu/internal/quantised", "kernels/cpu/internal/windows", "kernels/cpu/internal/work"},
	"kernels/cuda/driver/drivertest":      {"kernels/cuda/driver"},
	"kernels/cuda/internal/emit/emittest": {"core/graph", "core/graph/numeric", "core/graph/symbolic", "internal/suite", "kernels", "kernels/cuda/internal/emit", "kernels/cuda/internal/ptx", "kernels/cuda/internal/ptxas", "kernels/cuda/internal/ptxsim"},
}

// TestImports checks every Go file of the module, generators aside, against the table.
func TestImports(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		for _, im := range f.Imports {
			name, ours := strings.CutPrefix(strings.Trim(im.Path.Value, `"`), module)
			if ours && !slices.Contains(allowed[pkg], name) {
				t.Errorf("%s: package %s may not import %s", path, pkg, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// commandWords are flags, keys and commands, of which sessions know nothing: cmd adds them to errors, and views the keys.
// The flags of other tools follow a name in the same text.
var commandWords = regexp.MustCompile(`(^|[ (])--[a-z]|\bctrl-|\bthe key \w\b|\btrtui (build|bench|run|eval|inspect|calibrate|record|replay)\b`)

// TestSessionsNameNoFlags checks the strings of what is below the command line, and of views, which know keys.
func TestSessionsNameNoFlags(t *testing.T) {
	for _, dir := range []string{"sessions", "views"} {
		checkCommandWords(t, dir)
	}
}

func checkCommandWords(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			foreign := ok && (strings.Contains(text.Value, "tf2onnx") || strings.HasPrefix(text.Value, `" with --`)) // another tool's
			foreign = foreign || ok && strings.HasPrefix(text.Value, "`\nCREATE TABLE")                              // its comments are for those who query the file
			if !ok || text.Kind != token.STRING || foreign {
				return true
			}
			said := strings.Trim(text.Value, "\"`")
			if commandWords.MatchString(said) || dir == "sessions" && strings.Contains(said, "ctrl+") {
				t.Errorf("%s: %s", path, text.Value)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
