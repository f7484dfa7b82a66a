package quant

import (
	"math"
	"math/big"
	"math/bits"
)

const infBits = 0x7f800000 // of +Inf; greater ones are NaNs

// measures is what one look over a few values finds.
type measures struct {
	magnitude      uint32 // the bits of the largest |x|; at least infBits if a value is not finite
	zeros          int
	least, largest float32
	sum            float64 // of the values, and of their squares, in an order that depends on their number alone
	sumSquares     float64
}

// measure looks at one or more values. It has no branches that depend on them.
func measure(x []float32) measures {
	var magnitude, zeros uint32
	least, largest := int32(math.MaxInt32), int32(math.MinInt32)
	var s0, s1, q0, q1 float64
	n := len(x)
	for len(x) >= 2 {
		a, b := x[0], x[1]
		x = x[2:]
		ba, bb := math.Float32bits(a), math.Float32bits(b)
		ma, mb := ba&^(1<<31), bb&^(1<<31)
		magnitude = max(magnitude, ma, mb)
		zeros += (ma-1)>>31 + (mb-1)>>31
		ka, kb := ordered(ba), ordered(bb)
		least, largest = min(least, ka, kb), max(largest, ka, kb)
		da, db := float64(a), float64(b)
		s0 += da
		s1 += db
		q0 += da * da
		q1 += db * db
	}
	if n%2 == 1 {
		b := math.Float32bits(x[0])
		magnitude = max(magnitude, b&^(1<<31))
		zeros += (b&^(1<<31) - 1) >> 31
		k := ordered(b)
		least, largest = min(least, k), max(largest, k)
		d := float64(x[0])
		s0 += d
		q0 += d * d
	}
	// +0 makes a positive zero of a negative one.
	return measures{magnitude, int(zeros), unordered(least) + 0, unordered(largest) + 0, s0 + s1, q0 + q1}
}

// ordered maps the bits of a float to an integer that is ordered as the floats are.
func ordered(b uint32) int32 { return int32(b ^ uint32(int32(b)>>31)>>1) }

func unordered(k int32) float32 {
	return math.Float32frombits(uint32(k) ^ uint32(k>>31)>>1)
}

// exactSum is a sum of float64 values without rounding, so that it does not depend on their order: a fixed-point
// number with a digit of 32 bits in each limb, the lowest worth 2^sumUnit, and room for carries. It serves magnitudes
// below 2^320 (squares of float32 stay below 2^256, a chunk of them below 2^267); bits below 2^sumUnit are dropped
// from each value alone, which keeps the independence.
type exactSum struct {
	limbs [sumLimbs]int64
	adds  uint32 // since carries were last passed on
}

const (
	sumUnit  = -320
	sumLimbs = 22
)

func (s *exactSum) add(v float64) {
	if v == 0 {
		return
	}
	b := math.Float64bits(v)
	exp := int(b>>52&0x7ff) - 1075 // v is mantissa * 2^exp; no subnormal reaches sumUnit
	mantissa := b&(1<<52-1) | 1<<52
	at := exp - sumUnit
	if at < 0 {
		if at <= -64 {
			return
		}
		mantissa >>= -at
		at = 0
	}
	hi, lo := bits.Mul64(mantissa, 1<<(at%32))
	digits := [3]int64{int64(lo & 0xffffffff), int64(lo >> 32), int64(hi)}
	for i, d := range digits {
		if v < 0 {
			d = -d
		}
		if d != 0 {
			s.limbs[at/32+i] += d
		}
	}
	if s.adds++; s.adds == 1<<30 {
		s.carry()
	}
}

func (s *exactSum) merge(o *exactSum) {
	t := *o
	t.carry()
	s.carry()
	for i, d := range t.limbs {
		s.limbs[i] += d
	}
	s.carry()
}

// carry brings every limb but the last into 0 to 2^32-1: the one form that a sum has.
func (s *exactSum) carry() {
	for i := range sumLimbs - 1 {
		s.limbs[i+1] += s.limbs[i] >> 32
		s.limbs[i] &= 0xffffffff
	}
	s.adds = 0
}

// value returns the sum, rounded once.
func (s *exactSum) value() float64 {
	t := *s
	t.carry()
	total := new(big.Int)
	for i := sumLimbs - 1; i >= 0; i-- {
		total.Lsh(total, 32)
		total.Add(total, big.NewInt(t.limbs[i]))
	}
	f := new(big.Float).SetInt(total) // exact: its precision is that of total
	v, _ := f.SetMantExp(f, sumUnit).Float64()
	return v
}
