// Package golden holds what other programs compute for the embedded network (make.py), for the tests of
// every package that runs it. Only tests import it, so that the program does not carry it.
package golden

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

//go:embed tensors.json
var tensorsJSON []byte

//go:embed tensors.bin.gz
var tensorsData []byte

//go:embed accuracy.json
var accuracyJSON []byte

// A Tensor is the float64 reference of one tensor of the network, rounded to float32. Dims[0] counts the
// leading test images it was kept for: all 16, or the first alone where a tensor is wide.
type Tensor struct {
	Name   string // in the ONNX file, such as "stem/act/Relu_output_0" or "probabilities"
	Dims   []int
	Values []float32
}

// A Reference is the tensors and the SHA-256 (hex) of the ONNX file they belong to.
type Reference struct {
	Model   string
	Source  string // the program that computed them
	Images  int
	Tensors []Tensor // in the order in which the network computes them
}

// An Accuracy is the label accuracy that onnxruntime reaches on the 1,000 test images.
type Accuracy struct {
	Model   string `json:"model_sha256"`
	Source  string `json:"source"`
	Images  int    `json:"images"`
	Correct int    `json:"correct"`
	Wrong   []struct {
		Image     int `json:"image"`
		Label     int `json:"label"`
		Predicted int `json:"predicted"`
	} `json:"wrong"`
}

// Tensors returns the reference tensors for the first 16 test images.
func Tensors() (Reference, error) {
	var index struct {
		Model   string `json:"model_sha256"`
		Source  string `json:"source"`
		Images  int    `json:"images"`
		Tensors []struct {
			Name   string `json:"name"`
			Dims   []int  `json:"dims"`
			Offset int    `json:"offset"` // bytes
		} `json:"tensors"`
	}
	if err := json.Unmarshal(tensorsJSON, &index); err != nil {
		return Reference{}, fmt.Errorf("golden tensors.json: %w", err)
	}
	unzip, err := gzip.NewReader(bytes.NewReader(tensorsData))
	if err != nil {
		return Reference{}, fmt.Errorf("golden tensors.bin.gz: %w", err)
	}
	data, err := io.ReadAll(unzip)
	if err != nil {
		return Reference{}, fmt.Errorf("golden tensors.bin.gz: %w", err)
	}
	reference := Reference{Model: index.Model, Source: index.Source, Images: index.Images}
	for _, entry := range index.Tensors {
		n := 1
		for _, dim := range entry.Dims {
			n *= dim
		}
		if entry.Offset+4*n > len(data) {
			return Reference{}, fmt.Errorf("golden tensors.bin.gz: %s ends beyond the file", entry.Name)
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[entry.Offset+4*i:]))
		}
		reference.Tensors = append(reference.Tensors, Tensor{Name: entry.Name, Dims: entry.Dims, Values: values})
	}
	return reference, nil
}

// LabelAccuracy returns the reference label accuracy.
func LabelAccuracy() (Accuracy, error) {
	var accuracy Accuracy
	if err := json.Unmarshal(accuracyJSON, &accuracy); err != nil {
		return Accuracy{}, fmt.Errorf("golden accuracy.json: %w", err)
	}
	return accuracy, nil
}
