package graph

import "github.com/trtui/trtui/core/graph/numeric"

// Recurrent are the weights of a recurrent layer and what it begins with; see [LSTM]. What may be left out may be nil.
type Recurrent struct {
	W, R, Bias  *Tensor
	Lengths     *Tensor
	State, Cell *Tensor // Cell and Peepholes are an LSTM's
	Peepholes   *Tensor
}

// LSTM adds an LSTM over x [T,B,I], or [B,T,I], and returns the states of all places, the last one, and the last cell.
func (d *Definition) LSTM(x *Tensor, r Recurrent, a RecurrentAttrs) (y, state, cell *Tensor) {
	out := d.Layers(LSTM, a, 3, x, r.W, r.R, r.Bias, r.Lengths, r.State, r.Cell, r.Peepholes)
	return out[0], out[1], out[2]
}

// GRU adds a GRU, and returns the states of all places and the last one.
func (d *Definition) GRU(x *Tensor, r Recurrent, a RecurrentAttrs) (y, state *Tensor) {
	out := d.Layers(GRU, a, 2, x, r.W, r.R, r.Bias, r.Lengths, r.State, r.Cell, r.Peepholes)
	return out[0], out[1]
}

// RNN adds a recurrent layer of one gate, and returns the states of all places and the last one.
func (d *Definition) RNN(x *Tensor, r Recurrent, a RecurrentAttrs) (y, state *Tensor) {
	out := d.Layers(RNN, a, 2, x, r.W, r.R, r.Bias, r.Lengths, r.State, r.Cell, r.Peepholes)
	return out[0], out[1]
}

// ReverseSequence turns around the first places of each item of x, as many as lengths says.
func (d *Definition) ReverseSequence(x, lengths *Tensor, a ReverseSequenceAttrs) *Tensor {
	return d.Layer(ReverseSequence, a, x, lengths)
}

// DFT adds the discrete Fourier transform of x [...,1] or [...,2] along an axis.
func (d *Definition) DFT(x *Tensor, a DFTAttrs) *Tensor { return d.Layer(DFT, a, x) }

// STFT adds the Fourier transforms of the frames of x [B,L], [B,L,1] or [B,L,2]; window may be nil.
func (d *Definition) STFT(x, window *Tensor, a STFTAttrs) *Tensor { return d.Layer(STFT, a, x, window) }

// HannWindow adds a window of a length, an integer. A type that is not given is F32.
func (d *Definition) HannWindow(length *Tensor, a WindowAttrs) *Tensor {
	return d.Layer(HannWindow, a.whole(), length)
}

// HammingWindow adds a window of a length, as HannWindow does.
func (d *Definition) HammingWindow(length *Tensor, a WindowAttrs) *Tensor {
	return d.Layer(HammingWindow, a.whole(), length)
}

// BlackmanWindow adds a window of a length, as HannWindow does.
func (d *Definition) BlackmanWindow(length *Tensor, a WindowAttrs) *Tensor {
	return d.Layer(BlackmanWindow, a.whole(), length)
}

func (a WindowAttrs) whole() WindowAttrs {
	if a.Type == numeric.Invalid {
		a.Type = numeric.F32
	}
	return a
}

// MelWeightMatrix adds the matrix of so many bands of a spectrum of a transform's length; rate, low and high are samples of a
// second and frequencies. A type that is not given is F32.
func (d *Definition) MelWeightMatrix(bands, length, rate, low, high *Tensor, a MelAttrs) *Tensor {
	if a.Type == numeric.Invalid {
		a.Type = numeric.F32
	}
	return d.Layer(MelWeightMatrix, a, bands, length, rate, low, high)
}

// TfIdf adds counts of the tuples of a pool in rows x of integers or strings, [C] or [B,C].
func (d *Definition) TfIdf(x *Tensor, a TfIdfAttrs) *Tensor { return d.Layer(TfIdf, a, x) }
