//go:build linux

package files

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
)

// The data here is for the embedded model: images of 32 x 32 or what it makes of them, by hand in each form.

const side = 32

func pixels(n int) []byte {
	b := make([]byte, n*side*side)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

// npyFile returns an array in NumPy's form.
func npyFile(descr, shape string, data []byte) []byte {
	h := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	h += string(bytes.Repeat([]byte(" "), 63-(10+len(h))%64)) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(h)), byte(len(h)>>8))
	return append(append(b, h...), data...)
}

func npzFile(members map[string][]byte) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"x.npy", "y.npy"} {
		w, err := z.Create(name)
		if err == nil {
			_, _ = w.Write(members[name])
		}
	}
	_ = z.Close()
	return b.Bytes()
}

func idxFile(kind byte, dims []int, data []byte) []byte {
	b := []byte{0, 0, kind, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, data...)
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data)
	_ = z.Close()
	return b.Bytes()
}

func picture(kind string) []byte {
	m := image.NewGray(image.Rect(0, 0, 30, 32))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * 3)
	}
	var b bytes.Buffer
	if kind == "jpg" {
		_ = jpeg.Encode(&b, m, nil)
	} else {
		_ = png.Encode(&b, m)
	}
	return b.Bytes()
}

// deformNpy changes the header of an array, or its bytes.
func deformNpy(rnd *rand.Rand) []byte {
	descr := []string{"<f4", "|u1", "<i8", ">f4", "<f8", "<f2", "|O", "<U9", "|b1", "<c8", ""}[rnd.IntN(11)]
	shape := []string{"(2, 1, 32, 32)", "(2, 32, 32)", "(2,)", "()", "(0, 1, 32, 32)", "(-1, 32)", "(9223372036854775807, 2)", "(4294967296, 4294967296)", "(2, 1, 32, 32", "2", "(" + string(bytes.Repeat([]byte("1, "), 5000)) + ")"}[rnd.IntN(11)]
	b := npyFile(descr, shape, pixels(8)[:rnd.IntN(8*side*side)])
	if rnd.IntN(2) == 0 {
		b = deformBytes(rnd, b)
	}
	return b
}
