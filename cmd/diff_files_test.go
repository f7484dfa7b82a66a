package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// exchanged is where files of other programs are for tests.
const exchanged = "../sessions/exchange/testdata/"

// Files of trtexec and of ONNX Runtime are compared with each other and with what is measured now; the text says what they do not tell.
func TestDiffFiles(t *testing.T) {
	data, err := os.ReadFile(exchanged + "profile10.json")
	if err != nil {
		t.Fatal(err)
	}
	slower := filepath.Join(t.TempDir(), "slower.json")
	if err := os.WriteFile(slower, []byte(strings.ReplaceAll(string(data), "0.0299", "0.0399")), 0o644); err != nil {
		t.Fatal(err)
	}
	engine := exchanged + "layers10.json," + exchanged + "profile10.json"
	for _, format := range []string{"text", "markdown"} {
		text, _ := command(t, 0, "diff", engine, slower, "--format", format)
		for _, want := range []string{"+10.0", "A and B have means and medians of layers, and no samples", "B, a profile of trtexec, tells no source layers", "on which machines"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", format, want, text)
			}
		}
		if strings.Contains(text, " 0 B ") || !strings.Contains(text, "KiB") {
			t.Errorf("%s: the arena, which is not known, or the weights of the layers:\n%s", format, text)
		}
		if strings.Contains(text, "re-typed") {
			t.Errorf("%s: types that are not known are called changes:\n%s", format, text)
		}
	}
	// Without a screen the workbench on two says the same.
	diffed, _ := command(t, 0, "diff", exchanged+"profile10.json", slower)
	if opened, _ := command(t, 0, exchanged+"profile10.json", slower); opened != diffed {
		t.Errorf("opened they are\n%s\nand compared\n%s", opened, diffed)
	}
	text, _ := command(t, 0, "diff", exchanged+"runtime.json", exchanged+"runtime.json", "--format", "json")
	var d struct {
		A      map[string]any
		Groups []struct {
			Kind string
			P    *float64
		}
		Notes []string
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil || len(d.Groups) == 0 {
		t.Fatalf("%v: %s", err, text)
	}
	if d.A["memory"] != nil || d.A["arena_bytes"] != nil || d.A["weights_bytes"] != nil {
		t.Errorf("what the profile does not tell is %v, %v and %v", d.A["memory"], d.A["arena_bytes"], d.A["weights_bytes"])
	}
	for _, g := range d.Groups {
		if g.Kind != "same" {
			t.Errorf("a file beside itself: %+v", g)
		}
	}
	text, _ = command(t, 0, "diff", exchanged+"runtime.json", "@fp32", "--times-only", "--duration", "10ms")
	if !strings.Contains(text, "A, a profile of ONNX Runtime, tells no source layers") {
		t.Errorf("beside what is measured:\n%s", text)
	}
}

func TestDiffFilesRefused(t *testing.T) {
	for args, want := range map[string]string{
		exchanged + "layers10.json " + exchanged + "profile10.json":                                "has no times: name the profile beside it",
		exchanged + "profile10.json@fp32 " + exchanged + "profile10.json":                          "have nothing called fp32",
		exchanged + "profile10.json," + exchanged + "profile10.json " + exchanged + "runtime.json": "was given already",
	} {
		if _, text := command(t, exitFailure, append([]string{"diff"}, strings.Fields(args)...)...); !strings.Contains(text, want) {
			t.Errorf("%s: it says %q, want %q", args, text, want)
		}
	}
}

// TestDiffOwnFiles: an engine and the files that are written of it as trtexec writes them are the same, in any form of these files, with
// the source in the engine and without.
func TestDiffOwnFiles(t *testing.T) {
	dir := t.TempDir()
	engine, layers, profile := filepath.Join(dir, "m.engine"), filepath.Join(dir, "l.json"), filepath.Join(dir, "p.json")
	few := few(t)
	for _, build := range []string{"--precision fp16", "--precision fp16 --keep-source", "--precision int8 --calibrator minmax --rounding nearest --equalization off --bias-correction off --keep-source"} {
		command(t, 0, append(append(few, "build", "-q", "-o", engine), strings.Fields(build)...)...)
		for _, layout := range []string{"trt10", "trt11", "list"} {
			command(t, 0, "exec", "--loadEngine="+engine, "--duration=0", "--iterations=1", "--warmUp=0", "--exportProfile="+profile, "--exportLayerInfo="+layers, "--layout="+layout)
			text, _ := command(t, 0, "diff", layers+","+profile, engine, "--times-only", "--duration", "10ms", "--format", "json")
			var d struct {
				A, B struct {
					Steps   int
					Weights int `json:"weights_bytes"`
				}
				AddedSources   []string         `json:"added_sources"`
				RemovedSources []string         `json:"removed_sources"`
				ChangedSources []map[string]any `json:"changed_sources"`
				Groups         []struct{ Name, Kind string }
				Notes          []string
			}
			if err := json.Unmarshal([]byte(text), &d); err != nil || len(d.Groups) == 0 {
				t.Fatalf("%v: %s", err, text)
			}
			if d.A != d.B || len(d.AddedSources)+len(d.RemovedSources)+len(d.ChangedSources) > 0 {
				t.Errorf("%s, %s: A has %+v, B %+v; sources added %v, removed %v, changed %v", build, layout, d.A, d.B, d.AddedSources, d.RemovedSources, d.ChangedSources)
			}
			for _, g := range d.Groups {
				if g.Kind != "same" {
					t.Errorf("%s, %s: %s is %s", build, layout, g.Name, g.Kind)
				}
			}
			if notes := strings.Join(d.Notes, "; "); !strings.Contains(notes, "A does not say on which machine") || strings.Contains(notes, "not the same") {
				t.Errorf("%s, %s: it notes %s", build, layout, notes)
			}
		}
	}
}
