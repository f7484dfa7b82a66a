package stages

import (
	"math"
	"strconv"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/quant"
	"github.com/trtui/trtui/sessions/report"
)

// Bounds of an error map.
const (
	maxMapCells     = 24 * maxMapColumns
	maxMapColumns   = 32
	maxMapPositions = 1 << 24
	maxMapChannels  = 1024
)

// errorMap sums up squares for an [report.ErrorMap]. The zero value is ready for use.
type errorMap struct {
	channels, positions, rows, columns, group int

	column        []int32 // by position
	cells, counts []float64
	signal, noise []float64 // by group of channels
}

// add takes in the difference of two tensors with the given dims, whose channels lie along an axis and whose items along the first, if
// that is another; those of another shape than the first are left out.
func (m *errorMap) add(ref, got []float32, dims []int, axis int) {
	channels, before, inner := 1, 1, 1 // positions are before the channels and behind them
	if axis < len(dims) {
		channels, before, inner = dims[axis], numeric.Count(dims[min(1, axis):axis]), numeric.Count(dims[axis+1:])
	}
	positions := before * inner
	n := channels * positions
	if n == 0 || positions > maxMapPositions || len(ref)%n != 0 || len(got) != len(ref) {
		return
	}
	if m.channels == 0 {
		m.shape(channels, positions)
	} else if m.channels != channels || m.positions != positions {
		return
	}
	for i := 0; i < len(ref); i += inner {
		c, at := i/inner%channels, i/inner/channels%before*inner
		row := c * m.rows / channels * m.columns
		cells, counts := m.cells[row:row+m.columns], m.counts[row:row+m.columns]
		var signal, noise float64
		for p, r := range ref[i : i+inner] {
			d := float64(got[i+p]) - float64(r)
			if !(math.Abs(d) <= math.MaxFloat64) {
				continue
			}
			k := m.column[at+p]
			cells[k] += d * d
			counts[k]++
			signal += float64(r) * float64(r)
			noise += d * d
		}
		m.signal[c/m.group] += signal
		m.noise[c/m.group] += noise
	}
}

func (m *errorMap) shape(channels, positions int) {
	m.channels, m.positions = channels, positions
	m.columns = min(positions, maxMapColumns)
	m.rows = min(channels, maxMapCells/m.columns)
	m.group = (channels + maxMapChannels - 1) / maxMapChannels
	m.column = make([]int32, positions)
	for p := range m.column {
		m.column[p] = int32(p * m.columns / positions)
	}
	m.cells, m.counts = make([]float64, m.rows*m.columns), make([]float64, m.rows*m.columns)
	groups := (channels + m.group - 1) / m.group
	m.signal, m.noise = make([]float64, groups), make([]float64, groups)
}

// report returns the map, or nil if nothing was added.
func (m *errorMap) report() *report.ErrorMap {
	if m.channels == 0 {
		return nil
	}
	r := &report.ErrorMap{Channels: m.channels, Positions: m.positions, Rows: m.rows, Columns: m.columns, Group: m.group}
	for i, sum := range m.cells {
		r.RMS = append(r.RMS, threeDigits(math.Sqrt(sum/max(m.counts[i], 1))))
	}
	for i, signal := range m.signal {
		r.SQNR = append(r.SQNR, ratio(signal, m.noise[i]))
	}
	return r
}

// ratio returns signal to noise in dB with two decimals, from -quant.MaxDB to quant.MaxDB.
func ratio(signal, noise float64) float64 {
	switch {
	case noise <= 0:
		return quant.MaxDB
	case signal <= 0:
		return -quant.MaxDB
	}
	return round(max(-quant.MaxDB, min(quant.MaxDB, 10*math.Log10(signal/noise))))
}

// round returns a ratio in dB with two decimals: reports are stored as text.
func round(db float64) float64 { return math.Round(db*100) / 100 }

// threeDigits returns the nearest number of three decimal digits: reports are stored as text.
func threeDigits(v float64) float32 {
	var digits [32]byte
	f, err := strconv.ParseFloat(string(strconv.AppendFloat(digits[:0], v, 'e', 2, 64)), 32)
	if err != nil {
		return math.MaxFloat32 // the only error: it is larger
	}
	return float32(f)
}
