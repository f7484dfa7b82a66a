package emit

import "github.com/trtui/trtui/kernels/cuda/internal/ptx"

// AcrossWarp merges a number of each lane: all of them get the result.
func AcrossWarp(k *ptx.K, v ptx.Float, merge func(k *ptx.K, a, b ptx.Float) ptx.Float) ptx.Float {
	for mask := 16; mask > 0; mask /= 2 {
		v = merge(k, v, k.ShuffleXor(v, mask))
	}
	return v
}

// ShuffleLong is the value of another lane.
func ShuffleLong(k *ptx.K, v ptx.Long, mask int) ptx.Long {
	low := k.ShuffleXorWord(k.Low(v).Word(), mask).Uint()
	high := k.ShuffleXorWord(k.Low(k.ShrL(v, ptx.U(32), false)).Word(), mask).Uint()
	return k.OrL(k.ShlL(k.LongOfUint(high), ptx.U(32)), k.LongOfUint(low))
}
