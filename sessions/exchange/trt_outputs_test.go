package exchange

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
)

// TestOutputs: elements of every kind are numbers of JSON, each that it was, and strings are refused by name.
func TestOutputs(t *testing.T) {
	reals := numeric.NewValue(numeric.F32, 1, 4)
	copy(reals.F32(), []float32{0.1, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))})
	whole := numeric.NewValue(numeric.I64)
	whole.I64()[0] = math.MaxInt64
	list := []NamedValue{{"a", reals}, {"b", whole}, {"c", numeric.Value{Type: numeric.Bool, Dims: []int{2}, Data: []byte{1, 0}}}}
	data, err := OutputsJSON(list)
	const want = `[{"name":"a","dimensions":"1x4","values":[0.1,null,1e999,-1e999]},{"name":"b","dimensions":"","values":[9223372036854775807]},{"name":"c","dimensions":"2","values":[1,0]}]` + "\n"
	if err != nil || string(data) != want || !json.Valid(data) {
		t.Errorf("%s, %v", data, err)
	}
	s, err := OutputsSection(list)
	if text := strings.Join(s.Lines, "|"); err != nil || text != "a: (1x4)|0.1 nan inf -inf|b: ()|9223372036854775807|c: (2)|1 0" {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := OutputsJSON([]NamedValue{{"words", numeric.Strings([]string{"a"}, 1)}}); err == nil || !strings.Contains(err.Error(), "output words has strings") {
		t.Error(err)
	}
}
