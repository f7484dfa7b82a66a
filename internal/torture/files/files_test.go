//go:build linux

package files

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/torture"
	"github.com/trtui/trtui/internal/torture/networks"
)

// roleVar makes the test's program a trtui that reads files without looking at their lengths.
const roleVar = "TRTUI_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVar) == "careless" {
		os.Exit(careless(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// careless is a program with a planted defect: a bound is missing. It does what the hunt asks for before it begins, and
// takes some of what it reads for a length.
func careless(args []string) int {
	for i, a := range args {
		name, value, _ := strings.Cut(a, "=")
		if value == "" && i+1 < len(args) {
			value = args[i+1]
		}
		if slices.Contains([]string{"-o", "--timing-cache", "--save-inputs", "--save-outputs", "--calibration-cache", "--exportLayerInfo", "--exportProfile", "--exportTimes"}, name) && value != "none" {
			if err := os.WriteFile(value, []byte(`{"a": 1, "b": [2, 30]}`), 0o644); err != nil {
				return 2
			}
		}
	}
	for _, name := range args {
		data, err := os.ReadFile(name)
		if err != nil || strings.Contains(name, "/files-") || strings.Contains(name, "/made/") || len(data) < 8 {
			continue
		}
		n := int(binary.LittleEndian.Uint16(data[4:]))
		fmt.Println(len(data[6 : 6+n])) // beyond the end of some files
	}
	return 0
}

// TestMissingBound: the hunt finds a missing bound within some tries, and nothing wrong with sound answers.
func TestMissingBound(t *testing.T) {
	t.Setenv(roleVar, "careless")
	w, err := start(torture.Place{Program: os.Args[0], Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(200) {
		if found := w.Try(context.Background(), seed); len(found) > 0 {
			f := found[0]
			if !strings.Contains(f.Kind, "panic") && !strings.Contains(f.Kind, "runtime error") {
				t.Fatalf("%d: %s\n%s", seed, f.Kind, f.Text)
			}
			t.Logf("found by try %d: %s", seed, f.Kind)
			return
		}
	}
	t.Error("a missing bound is not found")
}

// TestWrong judges answers by hand.
func TestWrong(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    torture.Child
		want string
	}{
		{"done", torture.Child{Stdout: "fine\n"}, ""},
		{"refused", torture.Child{Code: 2, Stderr: "trtui: model.onnx: bad\n"}, ""},
		{"panic", torture.Child{Code: 2, Stderr: "panic: oh\n\ngoroutine 1 [running]:\n"}, "says panic:"},
		{"killed", torture.Child{Code: -1, Signal: "killed"}, "ended by killed"},
		{"hangs", torture.Child{Hung: true}, "hangs"},
		{"large", torture.Child{Large: true}, "takes more"},
		{"dumb", torture.Child{Code: 2, Stderr: "bad\n"}, "an error without a message"},
		{"nameless", torture.Child{Code: 2, Stderr: "trtui: bad\n"}, "does not name"},
		{"code", torture.Child{Code: 3}, "exit code 3"},
		{"escape", torture.Child{Stdout: "\x1b[31m"}, "escape"},
	} {
		if got := wrong(tt.c, "model.onnx"); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestHalfRead: the hunt finds a program that goes on with what it could read of a file.
func TestHalfRead(t *testing.T) {
	t.Setenv(roleVar, "careless")
	h := &hunter{place: torture.Place{Program: os.Args[0], Dir: t.TempDir()}, count: map[string]int{}}
	if err := h.prepare(); err != nil {
		t.Fatal(err)
	}
	h.readable = readableKinds(h.sound)
	for seed := range uint64(40) {
		for _, f := range h.tryReads(context.Background(), rand.New(rand.NewPCG(seed, 1))) {
			if strings.Contains(f.Kind, "exit code 0 of a file that") {
				t.Logf("found by try %d: %s", seed, f.Kind)
				return
			}
		}
	}
	if h.count["reads: engine"]+h.count["reads: keys"]+h.count["reads: npz"] == 0 {
		t.Skip("reads cannot be judged here")
	}
	t.Error("half of a file is taken for all, and not found")
}

// TestDeformedStrings: however often a model's strings are deformed, they are strings.
func TestDeformedStrings(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		m := &networks.Model{Consts: []networks.Const{{Name: "s", Value: numeric.Strings([]string{"", "a", strings.Repeat("long", 100)}, 3)}}}
		for range 3 {
			deformConst(rnd, m)
			if err := m.Consts[0].Value.Check(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
