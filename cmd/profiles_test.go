package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/testdata"
)

// --minShapes, --optShapes and --maxShapes behind --profile make the profiles of an engine, which then runs at any shapes that
// one of them serves as it is.
func TestProfileFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digits.engine")
	shape := func(batch string) string { return "image:" + batch + "x1x32x32" }
	profiles := []string{"--minShapes", shape("1"), "--optShapes", shape("2"), "--maxShapes", shape("4"),
		"--profile", "1", "--minShapes", shape("5"), "--maxShapes", strings.TrimPrefix(shape("16"), "image:"), "--profile", "0", "--maxShapes", shape("3")}
	out, err := call(t, buildCommand(tables{backends: testTable()}), append(profiles, "--format", "json", "-q", "-o", file)...)
	var got struct {
		Profiles []struct {
			Name                           string
			Shapes, Min_shapes, Max_shapes []struct {
				Input string
				Shape []int
			}
			Arena_bytes int
		}
		Config struct{ Profiles []any }
	}
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || len(got.Profiles) != 2 || len(got.Config.Profiles) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, want := range [][3]int{{1, 2, 3}, {5, 16, 16}} {
		p := got.Profiles[i]
		if batches := [3]int{p.Min_shapes[0].Shape[0], p.Shapes[0].Shape[0], p.Max_shapes[0].Shape[0]}; batches != want || p.Arena_bytes == 0 {
			t.Errorf("profile %d: %+v, want batches %v", i, p, want)
		}
	}
	for _, c := range []struct{ batch, has, not string }{
		{"2", "batch 2", "planned again"},
		{"3", "batch 3", "planned again"},
		{"11", "batch 11", "planned again"},
	} {
		out, err := call(t, benchCommand(tables{backends: testTable()}), "--duration", "1ms", "--iterations", "1", "--batch", c.batch, file)
		if err != nil || !strings.Contains(out, c.has) || strings.Contains(out, c.not) {
			t.Errorf("bench at batch %s: %v\n%s", c.batch, err, out)
		}
	}
	if _, err := call(t, benchCommand(tables{backends: testTable()}), "--batch", "17", file); err == nil || !strings.Contains(err.Error(), "profile 0: input image: axis 0") || !strings.Contains(err.Error(), "is 17, the engine was built for 1 to 3; profile 1: input image") {
		t.Errorf("bench at batch 17: %v", err)
	}
	_, err = call(t, benchCommand(tables{backends: testTable()}), "--sweep", "batch=17", file)
	if want := "is 17, the engine was built for 1 to 3; profile 1: input image: axis 0"; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "is 17, the engine was built for 5 to 16") {
		t.Errorf("a sweep to batch 17: %v", err)
	}
	for _, c := range []struct{ args, want string }{
		{"", "batch 2, profile default"},
		{"--batch 11", "batch 11, profile 1"},
		{"--useProfile 1", "batch 16, profile 1"},
		{"--useProfile 1 --batch 7", "batch 7, profile 1"},
		{"--profile 1", "batch 16, profile 1"},
		{"--profile 1 --batch 7", "batch 7, profile 1"},
		{"--profile 1 --useProfile 1", "batch 16, profile 1"},
		{"--useProfile 0 --batch 3", "batch 3, on"},
		{"--useProfile 1 --format json", `"profile": "1"`},
		{"--sweep batch=3..6:3", ""},
	} {
		out, err := call(t, benchCommand(tables{backends: testTable()}), append(strings.Fields(c.args), "--duration", "1ms", "--iterations", "1", file)...)
		if err != nil || !strings.Contains(out, c.want) || strings.Contains(out, "planned again") {
			t.Errorf("bench %s: %v, want %q\n%s", c.args, err, c.want, out)
		}
		if c.args == "--sweep batch=3..6:3" && !regexp.MustCompile(`(?s)batch +profile .*\n +3 +0 .*\n +6 +1 `).MatchString(out) {
			t.Errorf("a sweep says no profiles:\n%s", out)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"--useProfile 1 --batch 3", "is 3, the engine was built for 5 to 16"},
		{"--useProfile 0 --sweep batch=3..6:3", "is 6, the engine was built for 1 to 3"},
		{"--useProfile 2", "has 2 profiles"},
		{"--profile 2", "has 2 profiles"},
		{"--profile 1 --useProfile 0", "name two profiles"},
		{"--useProfile -1", "has 2 profiles"},
	} {
		if _, err := call(t, benchCommand(tables{backends: testTable()}), append(strings.Fields(c.args), file)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("bench %s: %v, want %q", c.args, err, c.want)
		}
	}
	if _, err := call(t, benchCommand(tables{backends: testTable()}), "--useProfile", "0"); err == nil || !strings.Contains(err.Error(), "is no engine") {
		t.Errorf("a profile of a model: %v", err)
	}
	ofModel := []string{"--optShapes", shape("2"), "--maxShapes", shape("2"), "--profile", "1", "--minShapes", shape("5"), "--maxShapes", shape("16"), "--duration", "1ms", "--iterations", "1"}
	if out, err := call(t, benchCommand(tables{backends: testTable()}), append(ofModel, "--useProfile", "1")...); err != nil || !strings.Contains(out, "batch 16") {
		t.Errorf("a profile that a model is built for: %v\n%s", err, out)
	}
	if _, err := call(t, benchCommand(tables{backends: testTable()}), append(ofModel, "--useProfile", "2")...); err == nil || !strings.Contains(err.Error(), "there are 2 profiles") {
		t.Errorf("a profile that there is not: %v", err)
	}
	model := filepath.Join(t.TempDir(), "digits.onnx")
	if err := os.WriteFile(model, testdata.Model(), 0o600); err != nil {
		t.Fatal(err)
	}
	quick := []string{"exec", "--useProfile=1", "--iterations=1", "--duration=0", "--warmUp=0", "--dumpOutput", "--quiet"}
	for _, args := range [][]string{{"--loadEngine=" + file}, {"--onnx=" + model, "--optShapes=" + shape("2"), "--profile=1", "--minShapes=" + shape("5"), "--maxShapes=" + shape("16")}} {
		if out, _ := command(t, 0, append(quick, args...)...); !strings.Contains(out, "Batch: 16") || !strings.Contains(out, "(16x10)") {
			t.Errorf("exec in profile 1:\n%s", out)
		}
	}
	if out, err := call(t, inspectEngine(tables{backends: testTable()}), file); err != nil || !strings.Contains(out, "profile 1: image:16x1x32x32, from 5x1x32x32 to 16x1x32x32; arena") {
		t.Errorf("inspect engine: %v\n%s", err, out)
	}
}

// What cannot be meant by the flags of profiles, or by a file's, is refused.
func TestWrongProfileFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--profile 2", "--profile 2: give --optShapes or --maxShapes"},
		{"--profile 16", "want 0 to 15"},
		{"--profile -1", "want 0 to 15"},
		{"--profile x", "want 0 to 15"},
		{"--profile 1", "--profile 1: give --optShapes or --maxShapes"},
		{"--minShapes image:axb", "--minShapes"},
		{"--profile 1 --maxShapes image:4x1x32", "profile 1"},
		{"--shapes image:1x1x32x32 --optShapes image:1x1x32x32", "give one of the two"},
		{"--minShapes image:4x1x32x32 --optShapes image:2x1x32x32 --maxShapes image:8x1x32x32", "input image: axis 0"},
		{"--maxShapes picture:4x1x32x32", "no input"},
	} {
		_, err := call(t, buildCommand(tables{backends: testTable()}), append(strings.Fields(c.args), "-o", filepath.Join(t.TempDir(), "x"))...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: it says %v, want %q", c.args, err, c.want)
		}
	}
	file := filepath.Join(t.TempDir(), "c.json")
	for text, want := range map[string]string{
		`{"profiles": [{"max": {}}]}`:                         `unknown field "max"`,
		`{"profiles": [{"max_shapes": {"x": [-2]}}]}`:         "profiles: 1: max_shapes: x [-2]",
		`{"profiles": [` + strings.Repeat("{},", 15) + `{}]}`: "want fewer than 16",
		`{"min_shapes": {"x": [99999999]}}`:                   "min_shapes: x [99999999]",
		`{"profiles": 3}`:                                     "profiles",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := call(t, buildCommand(tables{backends: testTable()}), "--config", file, "-o", file+".engine")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: it says %v, want %q", text, err, want)
		}
	}
	if text := `{"max_shapes": {"image": [4, 1, 32, 32]}, "profiles": [{"shapes": {"image": [8, 1, 32, 32]}}]}`; os.WriteFile(file, []byte(text), 0o600) == nil {
		out, err := call(t, buildCommand(tables{backends: testTable()}), "--config", file, "-o", file+".engine")
		if err != nil || !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return strings.HasPrefix(line, "profile 1: image:8x1x32x32; arena") }) {
			t.Errorf("of a file: %v\n%s", err, out)
		}
	}
}
