//go:build amd64 && !noasm

package asm

// peakLoops returns those in assembly; nil where a processor has none of their instructions.
func peakLoops(have Features) []PeakLoop {
	if !have.Has(AVX2) {
		return nil
	}
	float := PeakLoop{"f32", "VFMADD231PS, 256 bits", 12 * 8 * 2, peakFMAAVX2}
	if have.Has(AVX512) {
		float = PeakLoop{"f32", "VFMADD231PS, 512 bits", 24 * 16 * 2, peakFMAAVX512}
	}
	switch {
	case have.Has(AMXInt8):
		return []PeakLoop{float, {"i8", "TDPBUSD, tiles of 8192 bits", 4 * 16 * 16 * 64 * 2, peakTiles}}
	case have.Has(AVX512VNNI):
		return []PeakLoop{float, {"i8", "VPDPBUSD, 512 bits", 24 * 64 * 2, peakDotAVX512VNNI}}
	case have.Has(AVXVNNI):
		return []PeakLoop{float, {"i8", "VPDPBUSD, 256 bits", 10 * 32 * 2, peakDotAVXVNNI}}
	}
	return []PeakLoop{float, {"i8", "VPMADDUBSW and VPMADDWD, 256 bits", 10 * 32 * 2, peakDotAVX2}}
}

func peakTiles(n int) {
	room := tileRooms.Get().(*tileRoom)
	peakDotAMX(n, &room.config[0])
	tileRooms.Put(room)
}

// readLoop returns the widest loop that reads readParts times as many bytes as it is told, which are a multiple of readTurn; nil where
// there is none.
func readLoop(have Features) func(p *byte, part int) {
	switch {
	case have.Has(AVX512):
		return peakReadAVX512
	case have.Has(AVX2):
		return peakReadAVX2
	}
	return nil
}
