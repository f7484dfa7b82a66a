package images

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/image/tiff"
)

func tiffExtent(data []byte) (columns, rows int, err error) {
	return extentOf(tiff.DecodeConfig(bytes.NewReader(data)))
}

// decodeTIFF turns a facsimile's black and white around where its zeros are black: the codes' white is zeros, and the library takes it for
// white in any case.
func decodeTIFF(data []byte) (Image, error) {
	m, err := pixels(tiff.Decode(bytes.NewReader(data)))
	const compression, photometric = 259, 262
	if packed := tiffTag(data, compression); err != nil || packed < 2 || packed > 4 || tiffTag(data, photometric) != 1 {
		return m, err
	}
	for i := range m.RGB {
		m.RGB[i] = ^m.RGB[i]
	}
	return m, nil
}

// tiffTag returns the number of 16 bits that a file's first directory has for a tag; 0 if it has none.
func tiffTag(data []byte, tag uint16) uint16 {
	order := binary.ByteOrder(binary.LittleEndian)
	if data[0] == 'M' {
		order = binary.BigEndian
	}
	if len(data) < 8 {
		return 0
	}
	at := int(order.Uint32(data[4:]))
	if at > len(data)-2 {
		return 0
	}
	entries := data[at+2:]
	for range order.Uint16(data[at:]) {
		if len(entries) < 12 {
			return 0
		}
		if order.Uint16(entries) == tag {
			return order.Uint16(entries[8:])
		}
		entries = entries[12:]
	}
	return 0
}
