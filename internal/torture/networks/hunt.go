package networks

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trtui/trtui/core/graph/onnx"
	"github.com/trtui/trtui/internal/torture"
)

// Hunt is the hunt of random networks.
var Hunt = torture.Hunt{
	Name: "networks", Doc: "random networks of every op, through built engines, onnxruntime and the layers' definition",
	Share: 5, Sample: 600, Limit: 2 * time.Minute, Memory: 3 << 30, Start: start,
}

// Contexts is the hunt of the same networks in many contexts at once, for a process under the race detector: small ones, and
// nothing is shrunk.
var Contexts = torture.Hunt{
	Name: "contexts", Limit: 5 * time.Minute, Memory: 6 << 30,
	Start: func(p torture.Place) (*torture.Worker, error) {
		b := NewBench(nil)
		b.Contexts, b.Planted = 8, p.Planted
		return &torture.Worker{
			Try: func(ctx context.Context, seed uint64) (found []torture.Finding) {
				m := Generate(seed)
				for _, s := range RandomSetups(seed, FeatureSets())[1:] {
					if f := b.Check(ctx, m, s); f != nil && ctx.Err() == nil {
						found = append(found, finding(m, s, f))
					}
				}
				return found
			},
			Close: b.Close,
		}, nil
	},
}

// shrinkTime bounds the shrinking of one failure.
const shrinkTime = 20 * time.Second

func start(p torture.Place) (*torture.Worker, error) {
	b, err := newBench(p.Python)
	if err != nil {
		return nil, err
	}
	b.Planted = p.Planted
	features := FeatureSets()
	return &torture.Worker{
		Try: func(ctx context.Context, seed uint64) (found []torture.Finding) {
			m := Generate(seed)
			for _, s := range RandomSetups(seed, features) {
				if f := b.Check(ctx, m, s); f != nil && ctx.Err() == nil {
					found = append(found, finding(b.Shrink(ctx, m, s, f, shrinkTime)))
				}
			}
			return found
		},
		Count: func() map[string]int {
			f := b.Figures
			return map[string]int{"engines": f.Builds, "comparisons": f.Compared, "elements": f.Elements, "undecided": f.Undecided, "refused by onnxruntime": f.Refused}
		},
		Close: b.Close,
	}, nil
}

// newBench returns a bench with onnxruntime where there is a Python that has it.
func newBench(python string) (*Bench, error) {
	if python == "" {
		return NewBench(nil), nil
	}
	o, err := OpenOracle(python)
	if err != nil {
		return nil, err
	}
	return NewBench(o), nil
}

// finding returns a failure with the model as files.
func finding(m *Model, s Setup, f *Failure) torture.Finding {
	var ops []string
	for _, n := range m.Nodes {
		ops = append(ops, n.Op)
	}
	if len(ops) > 6 {
		ops = append(ops[:6], "...")
	}
	files := map[string][]byte{"model.onnx": m.Encode()}
	for i, in := range m.Inputs {
		files[fmt.Sprintf("test_data_set_0/input_%d.pb", i)] = onnx.WriteTensor(in.Name, in.Feed)
	}
	files["case.json"], _ = json.MarshalIndent(Case{m, s}, "", "\t") // made of what JSON can write
	return torture.Finding{Kind: f.Kind + " in " + strings.Join(ops, " "), Text: f.Text, Command: "go run ./scripts/torture show FOLDER", Files: files}
}

// Case is a model with what it goes through, as findings keep it.
type Case struct {
	Model *Model
	Setup Setup
}

// ReadCase reads the case that a finding's folder holds.
func ReadCase(dir string) (Case, error) {
	var c Case
	data, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil && c.Model == nil {
		err = fmt.Errorf("%s has no model", filepath.Join(dir, "case.json"))
	}
	return c, err
}

// Show checks the case that a finding's folder holds.
func Show(ctx context.Context, dir, python string) error {
	c, err := ReadCase(dir)
	if err != nil {
		return err
	}
	b, err := newBench(python)
	if err != nil {
		return err
	}
	defer b.Close()
	if f := b.Check(ctx, c.Model, c.Setup); f != nil {
		return f
	}
	return nil
}
