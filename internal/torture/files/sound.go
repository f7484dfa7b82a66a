//go:build linux

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trtui/trtui/internal/torture/networks"
)

// made are the commands that make sound files, and the files by their names: those are what is deformed. KEPT is the folder.
var made = []struct {
	args  []string
	files []string
}{
	{with("build", "KEPT/sound.onnx", "-o", "KEPT/engine", "--timing-cache", "KEPT/timing", "--precision", "int8"), []string{"engine", "timing"}},
	{with("record", "KEPT/sound.onnx", "-o", "KEPT/recording.trtui", "--timing-cache", "none"), []string{"recording.trtui"}},
	{[]string{"exec", "--onnx=KEPT/sound.onnx", "--iterations=3", "--duration=0", "--warmUp=0", "--exportLayerInfo=KEPT/layers.json", "--exportProfile=KEPT/profile.json", "--exportTimes=KEPT/times.json"},
		[]string{"layers.json", "profile.json", "times.json"}},
	{with("run", "KEPT/sound.onnx", "--items", "1", "--timing-cache", "none", "--save-inputs", "KEPT/inputs.json", "--save-outputs", "KEPT/outputs.json"), []string{"inputs.json", "outputs.json"}},
	{with("calibrate", "KEPT/sound.onnx", "--random-items", "2", "-o", "KEPT/ranges.json"), []string{"ranges.json"}},
	{with("calibrate", "KEPT/sound.onnx", "--random-items", "2", "--calibration-cache", "KEPT/calibration.cache"), []string{"calibration.cache"}},
}

// prepare has the sound files read: those of an earlier worker with the same program, or new ones.
func (h *hunter) prepare() error {
	program, err := os.Stat(h.place.Program)
	if err != nil {
		return err
	}
	keep := h.place.Keep
	if keep == "" {
		keep = h.place.Dir
	}
	if keep, err = filepath.Abs(keep); err != nil {
		return err
	}
	h.kept = filepath.Join(keep, fmt.Sprintf("files-%x-%x", program.Size(), program.ModTime().UnixNano()))
	if _, err := os.Stat(h.kept); errors.Is(err, fs.ErrNotExist) {
		if err := h.makeKept(); err != nil {
			return err
		}
	}
	h.sound = map[string][]byte{}
	for _, m := range made {
		for _, name := range m.files {
			if h.sound[name], err = os.ReadFile(filepath.Join(h.kept, name)); err != nil {
				return err
			}
		}
	}
	h.sound["model"], err = os.ReadFile(filepath.Join(h.kept, "sound.onnx"))
	return err
}

// makeKept makes the folder of sound files, which is there whole or not at all.
func (h *hunter) makeKept() error {
	dir := filepath.Join(h.place.Dir, "made")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"sound.onnx": small().Encode(), "sound.idx": idxFile(8, []int{2, side, side}, pixels(2)), "sound.txt": []byte("a text\n"),
		"language.onnx": networks.Language(1, false).Encode(), "cached.onnx": networks.Language(1, true).Encode(), "llama.bin": llama2c(), "powered.onnx": powered(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	for _, m := range made {
		args := strings.Split(strings.ReplaceAll(strings.Join(m.args, "\x00"), "KEPT", dir), "\x00")
		if out, err := exec.Command(h.place.Program, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("trtui %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	if err := os.MkdirAll(filepath.Dir(h.kept), 0o755); err != nil {
		return err
	}
	err := os.Rename(dir, h.kept)
	if _, there := os.Stat(h.kept); there == nil { // another worker was faster
		return nil
	}
	if err != nil { // on another disk
		return os.CopyFS(h.kept, os.DirFS(dir))
	}
	return nil
}

// small returns a model that is built in a moment, as it is: without open axes.
func small() *networks.Model {
	for seed := uint64(0); ; seed++ {
		m := networks.Generate(seed)
		convolves := 0
		for _, n := range m.Nodes {
			if n.Op == "Conv" || n.Op == "Relu" || n.Op == "MaxPool" {
				convolves++
			}
		}
		if convolves >= 3 && len(m.Nodes) < 9 && len(m.Inputs) == 1 && !slices.ContainsFunc(m.Inputs[0].Open, func(symbol string) bool { return symbol != "" }) {
			return m
		}
	}
}
