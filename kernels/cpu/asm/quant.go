package asm

// InterleaveBytes writes len(dst)/4 pixels of four bytes: byte c of pixel x is src[c*plane+x] with its bits
// flipped by flip (0x80 turns signed bytes into offset binary and back). Bytes beyond channels are zero.
func InterleaveBytes(dst, src []byte, plane, channels int, flip byte) {
	for x := range len(dst) / 4 {
		var v [4]byte
		for c := range channels {
			v[c] = src[c*plane+x] ^ flip
		}
		*(*[4]byte)(dst[4*x:]) = v
	}
}

// QuantizeInterleaved writes len(dst)/4 pixels of four bytes, byte c of pixel x being src[c*plane+x]
// quantised; see Requant. Bytes beyond channels are zero.
func QuantizeInterleaved(dst []byte, src []float32, plane, channels int, scale float32, zero int32) {
	for x := range len(dst) / 4 {
		var v [4]byte
		for c := range channels {
			v[c] = quantise(src[c*plane+x], scale, zero)
		}
		*(*[4]byte)(dst[4*x:]) = v
	}
}
