package emit

import (
	"encoding/binary"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
)

// LoadElement is an element of 1, 2 or 4 bytes in a word.
func LoadElement(k *ptx.K, p ptx.GlobalPtr, size int) ptx.Uint {
	switch size {
	case 1:
		return k.LoadByte(p)
	case 2:
		return k.HalfToUint(k.LoadHalf(p))
	}
	return k.Load(p, 1)[0].Uint()
}

// StoreElement writes the lowest 1, 2 or 4 bytes of a word.
func StoreElement(k *ptx.K, p ptx.GlobalPtr, size int, w ptx.Word) {
	switch size {
	case 1:
		k.StoreByte(p, w)
	case 2:
		k.StoreHalf(p, k.UintToHalf(w.Uint()))
	default:
		k.Store(p, w)
	}
}

// CopyElement copies an element of 1, 2, 4, 8 or 16 bytes, or where inside does not hold the fill.
func CopyElement(k *ptx.K, to, from ptx.GlobalPtr, size int, inside *ptx.Cond, fill []byte) {
	if size >= 4 {
		words := make([]ptx.Word, size/4)
		if inside == nil {
			words = k.Load(from, size/4)
		} else {
			for i := range words {
				words[i] = k.Var(ptx.W(binary.LittleEndian.Uint32(fill[4*i:])).Uint()).Word()
			}
			k.If(*inside, func() {
				for i, v := range k.Load(from, size/4) {
					k.Set(words[i].Uint(), v.Uint())
				}
			})
		}
		k.Store(to, words...)
		return
	}
	if inside == nil {
		StoreElement(k, to, size, LoadElement(k, from, size).Word())
		return
	}
	bits := uint32(fill[0])
	if size == 2 {
		bits |= uint32(fill[1]) << 8
	}
	v := k.Var(ptx.W(bits).Uint())
	k.If(*inside, func() { k.Set(v, LoadElement(k, from, size)) })
	StoreElement(k, to, size, v.Word())
}

// IndexAt is the index of an axis of the given extent, i32 or i64, at an address: a negative one counts from the end, one
// out of range is the nearest.
func IndexAt(k *ptx.K, p ptx.GlobalPtr, extent int) ptx.Uint {
	i := k.Load(p, 1)[0].Int() // of an i64 the low word
	i = k.Select(k.LtS(i, ptx.I(0)), k.AddS(i, ptx.I(extent)).Uint(), i.Uint()).Int()
	return k.MinS(k.MaxS(i, ptx.I(0)), ptx.I(extent-1)).Uint()
}

// Signed reports whether an integer type has negative numbers.
func Signed(t numeric.DataType) bool {
	return t == numeric.I8 || t == numeric.I16 || t == numeric.I32 || t == numeric.I64
}

// LoadInteger is an integer, or a truth value as 0 or 1.
func LoadInteger(k *ptx.K, p ptx.GlobalPtr, t numeric.DataType) ptx.Long {
	var w ptx.Int
	switch t.Size() {
	case 8:
		return k.LoadLong(p)
	case 4:
		w = k.Load(p, 1)[0].Int()
	case 2:
		w = k.LoadShort(p, Signed(t))
	default:
		w = k.LoadByteAs(p, Signed(t))
	}
	if Signed(t) {
		return k.LongOf(w)
	}
	return k.LongOfUint(w.Uint())
}

// StoreInteger writes the low bits of v, or of a truth value whether it is not 0.
func StoreInteger(k *ptx.K, p ptx.GlobalPtr, t numeric.DataType, v ptx.Long) {
	switch {
	case t == numeric.Bool:
		k.StoreByte(p, k.Select(k.EqL(v, ptx.L(0)), ptx.U(0), ptx.U(1)).Word())
	case t.Size() == 8:
		k.StoreLong(p, v)
	case t.Size() == 4:
		k.Store(p, k.Low(v).Word())
	case t.Size() == 2:
		k.StoreShort(p, k.Low(v).Word())
	default:
		k.StoreByte(p, k.Low(v).Word())
	}
}

// Truncated is a float rounded toward 0 and saturated to an integer type; 0 of NaN.
func Truncated(k *ptx.K, v ptx.Float, t numeric.DataType) ptx.Long {
	n := Saturated(k, k.FloatToLong(v, t != numeric.U64), t)
	return k.SelectL(k.EqF(v, v), n, ptx.L(0))
}

// Saturated is a number brought into the range of an integer type of less than 64 bits.
func Saturated(k *ptx.K, n ptx.Long, t numeric.DataType) ptx.Long {
	if t.Size() == 8 {
		return n
	}
	low, high := int64(0), int64(1)<<(8*t.Size())-1
	if Signed(t) {
		high >>= 1
		low = -high - 1
	}
	n = k.SelectL(k.LtL(n, ptx.L(low), true), ptx.L(low), n)
	return k.SelectL(k.LtL(ptx.L(high), n, true), ptx.L(high), n)
}

// RoundedLong is a float rounded to the nearest whole number, half to even: no more than 2^40 in magnitude, so that a zero
// point may be added; 0 of NaN.
func RoundedLong(k *ptx.K, v ptx.Float) ptx.Long {
	const most = 1 << 40
	v = k.SelectF(k.EqF(v, v), v, ptx.F(0))
	return k.FloatToLong(k.Round(k.MinF(k.MaxF(v, ptx.F(-most)), ptx.F(most))), true)
}

// BytesOf returns the four integers of a word of bytes.
func BytesOf(k *ptx.K, w ptx.Word, signed bool) [4]ptx.Int {
	var q [4]ptx.Int
	for i := range q {
		if signed {
			q[i] = k.BfeS(w, 8*i, 8)
		} else {
			q[i] = k.Bfe(w, 8*i, 8).Int()
		}
	}
	return q
}

// Repeated is a word of four equal bytes.
func Repeated(b int32) ptx.Word { return ptx.W(uint32(byte(b)) * 0x01010101) }
