package dataset

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trtui/trtui/core/graph/numeric"
)

// WriteNpz writes arrays by name as an archive that numpy.load opens, in the order of their names and uncompressed, as
// numpy.savez does. Types that numpy lacks, such as bfloat16, become f4.
func WriteNpz(w io.Writer, arrays map[string]numeric.Value) error {
	z := zip.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		member, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err == nil {
			err = writeNpy(member, arrays[name])
		}
		if err != nil {
			return fmt.Errorf("array %s: %w", name, err)
		}
	}
	return z.Close()
}

// writeNpy writes an array in version 1 of numpy's format: its description padded so that data begins at a multiple of 64.
func writeNpy(w io.Writer, v numeric.Value) error {
	code, ok := npyCode(v.Type)
	if v.Type == numeric.Str {
		var err error
		if code, v.Data, err = fixedWidth(v); err != nil {
			return err
		}
	} else if !ok {
		v = numeric.ToReal(v, numeric.Range{})
		if code, ok = npyCode(v.Type); !ok {
			return fmt.Errorf("numpy has no %s", v.Type)
		}
	}
	shape := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(v.Dims)), ", "), "[]")
	if len(v.Dims) == 1 {
		shape += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", code, shape)
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	head := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	for _, part := range [][]byte{head, []byte(text), v.Data} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// fixedWidth returns strings as numpy has them, each as long as the longest, and the code of such a type.
func fixedWidth(v numeric.Value) (code string, data []byte, err error) {
	list, width := v.Strings(), 0
	for i, s := range list {
		if !utf8.ValidString(s) {
			return "", nil, fmt.Errorf("string %d is not written in UTF-8, which numpy's have to be", i)
		}
		width = max(width, utf8.RuneCountInString(s))
	}
	if width > 0 && len(list) > maxBytes/4/width {
		return "", nil, errTooLarge
	}
	data = make([]byte, 4*width*len(list))
	for i, s := range list {
		at := 4 * width * i
		for _, r := range s {
			binary.LittleEndian.PutUint32(data[at:], uint32(r))
			at += 4
		}
	}
	return fmt.Sprintf("<U%d", width), data, nil
}

// npyCode returns numpy's code of a type with its byte order.
func npyCode(t numeric.DataType) (string, bool) {
	for code, known := range npyTypes {
		if known == t {
			if t.Size() == 1 {
				return "|" + code, true
			}
			return "<" + code, true
		}
	}
	return "", false
}
