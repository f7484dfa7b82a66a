package build

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Rounded are the integers that rounding by moments found, by source layer: with them a network is lowered again without the data,
// to the bit.
type Rounded map[string]RoundedWeights

// RoundedWeights tell in what the integers of one layer's weights differ from the nearest ones, which lowering finds again: mostly by
// one, so that they take about a bit for each.
type RoundedWeights struct {
	Nearest uint32 // checksum of the nearest ones (CRC-32C), of which alone Steps are
	Steps   []byte // by how much each byte is more than the nearest one's, modulo 256, deflated
}

// castagnoli is the polynomial of RoundedWeights.Nearest.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newRoundedWeights(nearest, rounded numeric.Value) RoundedWeights {
	var to bytes.Buffer
	w, err := flate.NewWriter(&to, flate.HuffmanOnly) // nothing repeats
	if err != nil {
		panic("build: " + err.Error())
	}
	steps := make([]byte, len(nearest.Data))
	for i, b := range rounded.Data {
		steps[i] = b - nearest.Data[i]
	}
	w.Write(steps) // a buffer takes everything
	w.Close()
	return RoundedWeights{Nearest: crc32.Checksum(nearest.Data, castagnoli), Steps: to.Bytes()}
}

// of returns the integers, given the nearest ones.
func (r RoundedWeights) of(nearest numeric.Value) (numeric.Value, error) {
	if crc32.Checksum(nearest.Data, castagnoli) != r.Nearest {
		return nearest, errors.New("its weights are not those that were rounded")
	}
	steps, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(r.Steps)), int64(len(nearest.Data))+1))
	if err != nil || len(steps) != len(nearest.Data) {
		return nearest, fmt.Errorf("the integers that were kept are damaged: %d of %d bytes", len(steps), len(nearest.Data))
	}
	for i, b := range nearest.Data {
		steps[i] += b
	}
	return numeric.Value{Type: nearest.Type, Dims: nearest.Dims, Data: steps}, nil
}

// nearest returns the nearest integers, given those that r stands for.
func (r RoundedWeights) nearest(rounded numeric.Value) numeric.Value {
	steps, _ := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(r.Steps)), int64(len(rounded.Data)))) // what newRoundedWeights wrote
	for i, b := range rounded.Data {
		steps[i] = b - steps[i]
	}
	return numeric.Value{Type: rounded.Type, Dims: rounded.Dims, Data: steps}
}
