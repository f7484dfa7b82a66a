// Package testdata carries a trained network and labelled pictures inside the program, so that the
// workbench, its tests and its benchmarks have something real to work on with no file at hand.
//
// The network classifies handwritten digits (train/network.py): image [batch,1,32,32] float32 in
// 0..1 gives probabilities [batch,10]. The pictures, and those it was trained on, are MNIST's
// (digits/LICENSE.md); train/README.md tells how both were made, golden/ what other programs compute for it.
package testdata

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// Sizes of the network's input: a picture of Side x Side with a margin of zeros around it.
const (
	Side    = 28 // pixels, as stored
	Padded  = 32 // pixels, as the network takes it
	Classes = 10
)

//go:embed digits.onnx
var model []byte

//go:embed digits/*.gz
var files embed.FS

// Model returns the embedded network as the bytes of an ONNX file: opset 17, 83 MFLOP an image,
// BatchNormalizations not folded, dynamic batch. The bytes must not be modified.
func Model() []byte { return model }

// Images are labelled pictures as the network takes them.
type Images struct {
	Pixels []float32 // [n, 1, Padded, Padded] in 0..1, zero padded
	Labels []int     // [n], 0 to Classes-1
}

// Len returns the number of pictures.
func (s *Images) Len() int { return len(s.Labels) }

// Batch returns the pixels of pictures i to j-1, [j-i, 1, Padded, Padded], without copying.
func (s *Images) Batch(i, j int) []float32 {
	const size = Padded * Padded
	return s.Pixels[i*size : j*size : j*size]
}

// TestImages returns 1,000 labelled pictures, 100 of each digit, that neither training nor calibration
// has seen. They are decoded once and shared: they must not be modified.
func TestImages() *Images { return testImages() }

// CalibrationImages returns 300 labelled pictures, 30 of each digit, apart from training and from
// TestImages. They are decoded once and shared: they must not be modified.
func CalibrationImages() *Images { return calibrationImages() }

var (
	testImages        = sync.OnceValue(func() *Images { return decode("test") })
	calibrationImages = sync.OnceValue(func() *Images { return decode("calibration") })
)

// decode reads a split from its two IDX files. They are part of the program, so a fault in them is a
// broken build and panics.
func decode(split string) *Images {
	pictures := readIDX("digits/"+split+"-images-idx3-ubyte.gz", 3)
	labels := readIDX("digits/"+split+"-labels-idx1-ubyte.gz", 1)
	n := len(labels)
	if len(pictures) != n*Side*Side {
		panic(fmt.Sprintf("testdata: %s: %d bytes of pictures for %d labels", split, len(pictures), n))
	}
	const margin = (Padded - Side) / 2
	images := &Images{Pixels: make([]float32, n*Padded*Padded), Labels: make([]int, n)}
	for i, label := range labels {
		images.Labels[i] = int(label)
		for y := range Side {
			from := pictures[(i*Side+y)*Side:][:Side]
			to := images.Pixels[(i*Padded+y+margin)*Padded+margin:][:Side]
			for x, pixel := range from {
				to[x] = float32(pixel) / 255
			}
		}
	}
	return images
}

// readIDX returns the elements of a gzipped IDX file of bytes with the given rank.
func readIDX(name string, rank int) []byte {
	compressed, err := files.ReadFile(name)
	if err != nil {
		panic("testdata: " + err.Error())
	}
	unzip, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic(fmt.Sprintf("testdata: %s: %v", name, err))
	}
	raw, err := io.ReadAll(unzip)
	if err != nil {
		panic(fmt.Sprintf("testdata: %s: %v", name, err))
	}
	const unsignedByte = 8
	header := 4 + 4*rank
	if len(raw) < header || binary.BigEndian.Uint32(raw) != unsignedByte<<8|uint32(rank) {
		panic(fmt.Sprintf("testdata: %s is not an IDX file of bytes with rank %d", name, rank))
	}
	return raw[header:]
}
