package onnx

import "testing"

// TestNarrow compares conversions from and to types of 8 bits and fewer with ONNX's reference evaluator; see testdata/narrow.py.
func TestNarrow(t *testing.T) {
	for _, c := range readNodes(t, "testdata/narrow.json") {
		t.Run(c.Name, func(t *testing.T) { c.evaluate(t, false) })
	}
}
