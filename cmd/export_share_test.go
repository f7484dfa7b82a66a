package cmd

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/exchange"
)

// TestShare writes every form of what trtexec wrote, and of a recording.
func TestShare(t *testing.T) {
	layers, profile, times := trtexecFiles(t)
	dir := t.TempDir()
	session := filepath.Join(dir, "session.trtui")
	unzip(t, filepath.Join("..", "sessions", "recording", "testdata", "recording-1.trtui.gz"), session)
	for _, f := range exchange.Formats() {
		for name, args := range map[string][]string{"viewed": {layers, profile, times}, "recorded": {session}} {
			to := filepath.Join(dir, name+"-"+f.Name)
			out, _ := command(t, 0, append([]string{"export", f.Name, "-o", to}, args...)...)
			if !strings.Contains(out, to) || !strings.Contains(out, "B\n") {
				t.Errorf("%s of what is %s prints %q", f.Name, name, out)
			}
			if info, err := os.Stat(to); err != nil || info.IsDir() != (f.Extension == "") {
				t.Errorf("%s: %v", to, err)
			}
		}
	}
	for _, form := range []string{"csv", "trex"} {
		if _, errs := command(t, exitFailure, "export", form, session, "-o", filepath.Join(dir, "o."+form+".csv")); !strings.Contains(errs, "names a file") {
			t.Errorf("%s to a file: %s", form, errs)
		}
	}
	page := filepath.Join(dir, "page.html")
	out, _ := command(t, 0, "export", "html", session, "--at", "1", "-o", page, "--format", "json")
	if !strings.Contains(out, `"file": "`+page+`"`) {
		t.Errorf("as JSON: %.300s", out)
	}
	if out, _ := command(t, 0, session); !strings.Contains(out, "session.trtui") || !strings.Contains(out, "state ") {
		t.Errorf("the recording alone is not replayed:\n%s", out)
	}
	if out, _ := command(t, 0, "export", "svg", session, "-o", "-"); !strings.HasPrefix(out, "<svg") || strings.Contains(out, "KiB\n") {
		t.Errorf("standard output has %.100q", out)
	} else if strings.Contains(out, "each configuration that you try") || strings.Contains(out, "no configuration was recorded") {
		t.Error("the configuration that was recorded is not listed as tried")
	}
	picture := func(theme ...string) string {
		out, _ := command(t, 0, append([]string{"export", "svg", session, "-o", "-"}, theme...)...)
		return out
	}
	dark := picture("--theme", "dark")
	if usual := picture(); usual != dark {
		t.Error("a picture is not dark without a theme")
	}
	t.Setenv("NO_COLOR", "1")
	if plain := picture(); plain == dark || strings.Contains(plain, "#e6a83c") {
		t.Error("with NO_COLOR a picture has colours")
	}
	if picture("--theme", "dark") != dark {
		t.Error("with NO_COLOR a theme that is asked for has no colours")
	}
	t.Setenv("NO_COLOR", "")
	for says, args := range map[string][]string{
		"-o FILE is missing":    {"html", layers},
		"-o FOLDER is missing":  {"csv", layers},
		"given together":        {"md", session, layers, "-o", page},
		"chooses a state":       {"html", layers, "--at", "1", "-o", page},
		"there are none":        {"trace", layers, "-o", page},
		"no state 99":           {"html", session, "--at", "99", "-o", page},
		"neither layer inform":  {"md", filepath.Join("..", "sessions", "exchange", "testdata", "layers10.json"), notLayers(t), "-o", page},
		"no such file or direc": {"md", filepath.Join(dir, "none"), "-o", page},
	} {
		if _, got := command(t, exitFailure, append([]string{"export"}, args...)...); !strings.Contains(got, says) {
			t.Errorf("%v: %q, want %q", args, got, says)
		}
	}
}

// TestPicture draws screens of what trtexec wrote and of a recording.
func TestPicture(t *testing.T) {
	layers, profile, times := trtexecFiles(t)
	to := filepath.Join(t.TempDir(), "screen.svg")
	command(t, 0, "export", "svg", layers, profile, times, "--screen", "3", "--cells", "100x30", "-o", to)
	if data, err := os.ReadFile(to); err != nil || !strings.Contains(string(data), "29.9 µs") {
		t.Errorf("%v: %.200s", err, data)
	}
	for says, args := range map[string][]string{
		"want COLUMNSxLINES":                       {"--cells", "10x10"},
		"want its digit, or overview":              {"--screen", "11"},
		"no key is called \"hyper\"":               {"--press", "v,hyper"},
		"want dark, light, contrast, colour-blind": {"--theme", "blue"},
	} {
		if _, got := command(t, exitFailure, append([]string{"export", "svg", layers, "-o", to}, args...)...); !strings.Contains(got, says) {
			t.Errorf("%v: %q, want %q", args, got, says)
		}
	}
	t.Chdir(t.TempDir())
	for _, want := range []string{"trtui-screen-1.svg", "trtui-screen-2.svg"} {
		if path, err := savePicture("svg", []byte("<svg/>")); err != nil || filepath.Base(path) != want {
			t.Errorf("%s, %v: want %s", path, err, want)
		}
	}
}

// TestPictureCompared draws three states side by side.
func TestPictureCompared(t *testing.T) {
	dir := t.TempDir()
	session, page := filepath.Join(dir, "session.trtui"), filepath.Join(dir, "matrix.html")
	unzip(t, filepath.Join("..", "sessions", "recording", "testdata", "recording-1.trtui.gz"), session)
	command(t, 0, "export", "html", session, session, session, "-o", page)
	if data, err := os.ReadFile(page); err != nil || !strings.Contains(string(data), "farthest apart") {
		t.Errorf("%v: %.300s", err, data)
	}
	if _, got := command(t, exitFailure, "export", "svg", session, "--screen", "matrix", "-o", page); !strings.Contains(got, "want its digit, or") {
		t.Errorf("%q", got)
	}
}

// TestShareModel measures the embedded model and writes it for TREx, which is then read.
func TestShareModel(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the embedded model")
	}
	dir := t.TempDir()
	command(t, 0, "export", "trex", "--precision", "fp16", "-q", "-o", dir)
	out, _ := command(t, 0, "inspect", "layers", filepath.Join(dir, "digits.graph.json"), filepath.Join(dir, "digits.profile.json"))
	if !strings.Contains(out, "of 65 source layers") || !strings.Contains(out, "stem/conv/Conv +2") {
		t.Errorf("read again:\n%s", out)
	}
}

func notLayers(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(path, []byte(`{"a": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func unzip(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
