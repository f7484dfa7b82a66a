package quant

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// storedHistogram is a histogram as JSON has it, exactly.
type storedHistogram struct {
	Exp    int             `json:"exp"` // bins are 2^exp wide
	Count  uint64          `json:"count"`
	Zeros  uint64          `json:"zeros,omitempty"`
	NaNs   uint64          `json:"nans,omitempty"`
	PosInf uint64          `json:"pos_inf,omitempty"`
	NegInf uint64          `json:"neg_inf,omitempty"`
	Min    float32         `json:"min"`
	Max    float32         `json:"max"`
	Sum    [sumLimbs]int64 `json:"sum"`            // digits of 32 bits, see exactSum
	Square [sumLimbs]int64 `json:"sum_squares"`    // of the squares
	Bins   []uint64        `json:"bins,omitempty"` // place and count of each bin that is not empty, in turn; the middle is zero
}

// MarshalJSON writes the histogram so that UnmarshalJSON gives the same one.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	sum, squares := h.sum, h.sumSquares
	sum.carry()
	squares.carry()
	s := storedHistogram{h.exp, h.count, h.zeros, h.nans, h.posInf, h.negInf, h.least, h.largest, sum.limbs, squares.limbs, nil}
	for i := range h.lanes {
		if n := h.at(i); n > 0 {
			s.Bins = append(s.Bins, uint64(i), n)
		}
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads a histogram; one that contradicts itself is an error.
func (h *Histogram) UnmarshalJSON(data []byte) error {
	var s storedHistogram
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s.Exp < minExp-1 || s.Exp > 128 || len(s.Bins)%2 != 0 || len(s.Bins) > 4*binsPerSide || s.Min > s.Max || s.Zeros > s.Count {
		return errors.New("a histogram that contradicts itself")
	}
	*h = Histogram{exp: s.Exp, count: s.Count, zeros: s.Zeros, nans: s.NaNs, posInf: s.PosInf, negInf: s.NegInf, least: s.Min, largest: s.Max}
	h.sum.limbs, h.sumSquares.limbs = s.Sum, s.Square
	for _, sum := range []*exactSum{&h.sum, &h.sumSquares} {
		for _, d := range sum.limbs[:sumLimbs-1] {
			if d < 0 || d > math.MaxUint32 {
				return errors.New("a histogram whose sum is no number")
			}
		}
	}
	total := s.Zeros
	for k := 0; k < len(s.Bins); k += 2 {
		at, n := s.Bins[k], s.Bins[k+1]
		if at >= 2*binsPerSide || k > 0 && at <= s.Bins[k-2] || n > s.Count-total {
			return fmt.Errorf("a histogram whose bin %d does not fit", at)
		}
		if h.lanes == nil {
			h.lanes = make([][2]uint64, 2*binsPerSide)
		}
		h.lanes[at][0] = n
		total += n
	}
	if total != s.Count {
		return fmt.Errorf("a histogram of %d values whose bins hold %d", s.Count, total)
	}
	return nil
}
