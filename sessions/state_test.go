package sessions_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/sessions"
	"github.com/trtui/trtui/sessions/compare"
	"github.com/trtui/trtui/sessions/config"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/report"
)

const stateSize, stateSteps = 6, 9

// recurrentNetwork returns an LSTM over so many places whose states are inputs and outputs, and an input for all of them.
func recurrentNetwork(t *testing.T, steps int) (*graph.Network, []float32) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(3, 4))
	random := func(n int) []float32 {
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(rnd.NormFloat64())
		}
		return list
	}
	one := symbolic.Const(1)
	d := graph.Define("recurrent")
	x := d.Input("x", numeric.F32, symbolic.Const(steps), one, symbolic.Const(3))
	h, c := d.Input("h", numeric.F32, one, one, symbolic.Const(stateSize)), d.Input("c", numeric.F32, one, one, symbolic.Const(stateSize))
	w, r := d.Weights("w", random(4*stateSize*3), 1, 4*stateSize, 3), d.Weights("r", random(4*stateSize*stateSize), 1, 4*stateSize, stateSize)
	y, hn, cn := d.LSTM(x, graph.Recurrent{W: w, R: r, State: h, Cell: c}, graph.RecurrentAttrs{Hidden: stateSize})
	d.Output("y", y)
	d.Output("hn", hn)
	d.Output("cn", cn)
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	return n, random(3 * stateSteps)
}

// places are the places of a sequence, one an item, labelled by the largest state.
type places struct {
	x      []float32
	labels []int
}

func (p places) Len() int { return stateSteps }
func (p places) Inputs(i int) (map[string]numeric.Value, error) {
	return map[string]numeric.Value{"x": numeric.Values(numeric.F32, p.x[3*i:3*i+3], 1, 1, 3)}, nil
}
func (p places) Labels(i int) []int { return p.labels[i : i+1] }
func (p places) Name() string       { return "places" }
func (p places) Random() bool       { return false }

// TestState runs a sequence place by place and as a whole: what is carried from item to item makes them one, in comparisons, in
// accuracy and in what is collected.
func TestState(t *testing.T) {
	sessions.NotUnderRace(t)
	whole, x := recurrentNetwork(t, stateSteps)
	zeros := numeric.NewValue(numeric.F32, 1, 1, stateSize)
	want, err := whole.Eval(t.Context(), map[string]numeric.Value{"x": numeric.Values(numeric.F32, x, stateSteps, 1, 3), "h": zeros, "c": zeros}, nil)
	if err != nil {
		t.Fatal(err)
	}
	states := want["y"].F32()
	data := places{x: x}
	for i := range stateSteps {
		data.labels = append(data.labels, largest(states[i*stateSize:][:stateSize]))
	}
	one, _ := recurrentNetwork(t, 1)
	var file bytes.Buffer
	if err := onnx.Export(&file, one); err != nil {
		t.Fatal(err)
	}
	m, err := model.Parse(graph.Ops(), "recurrent", file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	w := workplace(t, nil)
	w.Backend, w.TapItems = w.Host, stateSteps
	w.Data = dataset.Begun(data, []*graph.Tensor{m.Network.Tensor("h"), m.Network.Tensor("c")})
	w.CalData = w.Data
	cfg := config.Config{Precision: config.FP32, Calibrator: "minmax", Batch: 1, State: map[string]string{"h": "hn", "c": "cn"}}

	how := compare.Options{Check: compare.Check{Tolerance: report.Tolerance{Abs: 1e-5, Rel: 1e-5}}, PerLayer: true, Save: func(run, i int, v map[string]numeric.Value) error {
		if run > 0 {
			return nil
		}
		for j, got := range v["y"].F32() {
			if math.Abs(float64(got-states[i*stateSize+j])) > 1e-6 {
				return fmt.Errorf("place %d, element %d is %v, want %v", i, j, got, states[i*stateSize+j])
			}
		}
		return nil
	}}
	r, err := sessions.Compare(t.Context(), m, w, cfg, []sessions.Contender{{Name: "cpu", Backend: w.Backend}, {Name: "eval"}}, how, nil)
	if err != nil || !r.Passed || r.Items != stateSteps {
		t.Fatalf("%v, %+v", err, r)
	}
	for _, precision := range []config.Precision{config.FP32, config.FP16, config.INT8} {
		cfg.Precision = precision
		snap, err := sessions.NewRunner(m, w, nil).Report(t.Context(), cfg, report.PartScore|report.PartAccuracy, run.Profiling{})
		if err != nil {
			t.Fatal(err)
		}
		if a := snap.Accuracy; a.Labels.FP32Top1 != 1 || a.Outputs[0].SQNR < 30 || a.TapItems != stateSteps {
			t.Errorf("%s: top-1 of FP32 %v, %v dB, layers of %d items", precision, a.Labels.FP32Top1, a.Outputs[0].SQNR, a.TapItems)
		}
	}
	cfg.Precision, cfg.State = config.FP32, nil
	snap, err := sessions.NewRunner(m, w, nil).Report(t.Context(), cfg, report.PartScore, run.Profiling{})
	if err != nil || snap.Accuracy.Labels.FP32Top1 == 1 {
		t.Errorf("without a state: %v, top-1 %v", err, snap.Accuracy.Labels.FP32Top1)
	}
	for _, c := range []struct {
		batch int
		state map[string]string
		want  string
	}{
		{1, map[string]string{"g": "hn"}, `state: the model has no input "g"; it has [x h c]`},
		{1, map[string]string{"h": "gn"}, `state: the model has no output "gn"; it has [y hn cn]`},
		{1, map[string]string{"h": "y"}, "cannot be the output y"},
		{2, map[string]string{"h": "hn"}, "a batch of 2"},
	} {
		cfg.Batch, cfg.State = c.batch, c.state
		if _, err := sessions.NewRunner(m, w, nil).Report(t.Context(), cfg, report.PartScore, run.Profiling{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.state, err)
		}
	}
}

func largest(list []float32) (at int) {
	for i, v := range list {
		if v > list[at] {
			at = i
		}
	}
	return at
}

// speech is the samples of a mono WAV file of 16 bits in chunks of 512, with the 64 before them.
type speech []float32

func (s speech) Len() int { return len(s) / 512 }
func (s speech) Inputs(i int) (map[string]numeric.Value, error) {
	x := make([]float32, 64+512)
	for j := range x {
		if at := 512*i + j - 64; at >= 0 {
			x[j] = s[at]
		}
	}
	return map[string]numeric.Value{"input": numeric.Values(numeric.F32, x, 1, len(x))}, nil
}
func (s speech) Labels(int) []int { return nil }
func (s speech) Name() string     { return "speech" }
func (s speech) Random() bool     { return false }

// TestVoiceActivity carries the state of a trained detector of voices through a recording, whose probabilities are known.
func TestVoiceActivity(t *testing.T) {
	sessions.NotUnderRace(t)
	dir := filepath.Join(os.Getenv("TRTUI_DATA"), "models", "silero-vad")
	wav, err := os.ReadFile(filepath.Join(dir, "speech6s_16k.wav"))
	if err != nil {
		t.Skip("TRTUI_DATA is not set, or has no models/silero-vad")
	}
	const head = 44 // RIFF, the format, and the head of the samples
	var samples speech
	for i := head; i+1 < len(wav); i += 2 {
		samples = append(samples, float32(int16(binary.LittleEndian.Uint16(wav[i:])))/32768)
	}
	text, err := os.ReadFile(filepath.Join(dir, "golden_probabilities.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string][]float64
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	const name = "silero_vad_16k_static.onnx"
	m, err := model.Open(graph.Ops(), filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	w := workplace(t, nil)
	w.Data = dataset.Begun(samples, []*graph.Tensor{m.Network.Tensor("state")})
	compared := 0
	how := compare.Options{Check: compare.Check{Tolerance: report.Tolerance{Abs: 1, Rel: 1}}, Save: func(_, i int, v map[string]numeric.Value) error {
		if i >= len(golden[name]) {
			return nil
		}
		compared++
		if got, want := float64(v["output"].F32()[0]), golden[name][i]; math.Abs(got-want) > 1e-4 {
			return fmt.Errorf("chunk %d is a voice by %v, want %v", i, got, want)
		}
		return nil
	}}
	cfg := config.Config{Precision: config.FP32, Batch: 1, State: map[string]string{"state": "stateN"}}
	if _, err := sessions.Compare(context.Background(), m, w, cfg, []sessions.Contender{{Name: "cpu", Backend: w.Host}}, how, nil); err != nil {
		t.Fatal(err)
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
