package pointwise

import (
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// float8Format is a format of 8-bit floats as its codes: bits of the mantissa, the exponent's bias, the code of the largest
// number, what is beyond it, and whether neither NaN nor 0 has a sign.
type float8Format struct {
	mantissa, bias       int
	largest, beyond, nan int
	unsigned             bool
}

func float8FormatOf(t numeric.DataType) float8Format {
	switch t {
	case numeric.F8E4M3FN:
		return float8Format{3, 7, 0x7e, 0x7f, 0x7f, false}
	case numeric.F8E4M3FNUZ:
		return float8Format{3, 8, 0x7f, 0x80, 0x80, true}
	case numeric.F8E5M2:
		return float8Format{2, 15, 0x7b, 0x7c, 0x7f, false}
	}
	return float8Format{2, 16, 0x7f, 0x80, 0x80, true}
}

// float8Table is the numbers of all codes as f32.
func float8Table(t numeric.DataType) []byte {
	codes, list := make([]byte, 256), make([]float32, 256)
	for i := range codes {
		codes[i] = byte(i)
	}
	for i, v := range (numeric.Value{Type: t, Dims: []int{256}, Data: codes}).Float64s() {
		list[i] = float32(v)
	}
	return numeric.Bytes(list)
}

// float8Of is the code of a float rounded half to even. What is too large becomes the largest number or, if it may overflow,
// what is beyond it: an infinity, or NaN where there is none.
func float8Of(k *ptx.K, v ptx.Float, t numeric.DataType, overflow bool) ptx.Uint {
	f := float8FormatOf(t)
	a := k.MinF(k.AbsF(v), ptx.F(1<<20)) // more than any format has
	least := 1 - f.bias
	e := k.MaxS(k.SubS(k.Shr(k.Bits(a).Uint(), 23).Int(), ptx.I(127)), ptx.I(least))
	// 2^(mantissa-e) makes a's last bit a whole one: its code are these and the exponent above them.
	scale := k.FloatOf(k.Shl(k.SubS(ptx.I(127+f.mantissa), e).Uint(), 23).Word())
	units := k.FloatToInt(k.Round(k.MulF(a, scale)))
	code := k.AddS(k.Shl(k.SubS(e, ptx.I(least)).Uint(), f.mantissa).Int(), units)
	limit := f.largest
	if overflow {
		limit = f.beyond
	}
	code = k.Select(k.LtS(ptx.I(f.largest), code), ptx.U(limit), code.Uint()).Int()
	sign := k.And(k.Shr(k.Bits(v).Uint(), 24), ptx.U(0x80))
	nan := k.EqF(v, v).Not()
	if f.unsigned {
		sign = k.Select(k.Eq(code.Uint(), ptx.U(0)), ptx.U(0), sign)
		return k.Select(nan, ptx.U(f.nan), k.Or(code.Uint(), sign))
	}
	return k.Or(k.Select(nan, ptx.U(f.nan), code.Uint()), sign)
}
