package emit

import "github.com/trtui/trtui/kernels/cuda/internal/ptx"

// Work is what a tactic emits for a binding.
type Work struct {
	Module    *ptx.Module
	Launches  []Launch // in order
	Constants []byte   // packed weights and tables, placed in device memory at a multiple of 256
	text      string   // of the module, once it is known
}

// Text returns the module's text.
func (w *Work) Text() string {
	if w.text == "" {
		w.text = w.Module.String()
	}
	return w.text
}

// NewWork returns a work whose module is empty, and for sm_80. Where a tactic needs more it says so, and [Tactic.Work] sees
// to it: what emits does not.
func NewWork() *Work { return &Work{Module: ptx.New(ptx.SM80)} }

// overlap makes the kernels ones that may begin before those before them in the stream have ended: code for sm_90.
func (w *Work) overlap() {
	if w.Module.Target.SM < ptx.SM90.SM {
		w.Module.Retarget(ptx.SM90)
	}
	for _, k := range w.Module.Kernels {
		k.Overlap()
	}
	for i := range w.Launches {
		w.Launches[i].Overlap = true
	}
}

// Append adds constants at a multiple of 256 and returns where.
func (w *Work) Append(data []byte) int {
	at := RoundUp(len(w.Constants), 256)
	w.Constants = append(append(w.Constants, make([]byte, at-len(w.Constants))...), data...)
	return at
}
