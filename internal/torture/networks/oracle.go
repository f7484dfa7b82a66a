package networks

import (
	"context"
	"time"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/onnxruntime"
)

// Oracle is ONNX Runtime on one thread, which computes a model node by node.
type Oracle struct{ runtime *onnxruntime.Runtime }

// maxOracleTime bounds one run of onnxruntime.
const maxOracleTime = 20 * time.Second

// OpenOracle starts onnxruntime by a Python interpreter; the error says why it has none.
func OpenOracle(python string) (*Oracle, error) {
	r, err := onnxruntime.Open(context.Background(), onnxruntime.Options{Python: python, Threads: 1, Limit: maxOracleTime})
	if err != nil {
		return nil, err
	}
	return &Oracle{r}, nil
}

// Close ends it.
func (o *Oracle) Close() { o.runtime.Close() }

// Run returns the model's outputs; an error is a refusal, or the end of the process.
func (o *Oracle) Run(ctx context.Context, m *Model) (map[string]numeric.Value, error) {
	in := map[string]numeric.Value{}
	for _, x := range m.Inputs {
		in[x.Name] = x.Feed
	}
	return o.Compute(ctx, m.Encode(), in)
}

// Compute returns what the bytes of a model compute of inputs by name; an error is as Run's.
func (o *Oracle) Compute(ctx context.Context, model []byte, in map[string]numeric.Value) (map[string]numeric.Value, error) {
	return o.runtime.Run(ctx, onnxruntime.Model{Data: model}, in)
}
