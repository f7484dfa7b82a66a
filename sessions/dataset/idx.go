package dataset

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
)

// readIdx reads an array in the idx format, as MNIST has it: two zero bytes, a type, the number of axes, big-endian
// extents, elements. Only bytes are supported.
func readIdx(r io.Reader, part func(n int) (first, count int, err error)) (numeric.Value, error) {
	var v numeric.Value
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != 0 || head[1] != 0 {
		return v, fmt.Errorf("not an idx file: it does not begin as one")
	}
	switch head[2] {
	case 8:
		v.Type = numeric.U8
	case 9:
		v.Type = numeric.I8
	default:
		return v, fmt.Errorf("idx elements of type %#x are not supported, only bytes", head[2])
	}
	if head[3] < 1 || head[3] > 4 {
		return v, fmt.Errorf("idx data of %d axes; want 1 to 4", head[3])
	}
	row := 1
	for i := range int(head[3]) {
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return v, fmt.Errorf("the idx header is cut off")
		}
		d := int(binary.BigEndian.Uint32(b[:]))
		v.Dims = append(v.Dims, d)
		if i == 0 {
			continue
		}
		if d > 0 && row > maxBytes/d {
			return v, errTooLarge
		}
		row *= d
	}
	first, count, err := part(v.Dims[0])
	if err != nil {
		return v, err
	}
	v.Dims[0] = count
	if _, err := io.CopyN(io.Discard, r, int64(first)*int64(row)); err != nil {
		return v, fmt.Errorf("the file ends before item %d", first)
	}
	if row > 0 && count > maxBytes/row {
		return v, errTooLarge
	}
	v.Data, err = readExactly(r, count*row)
	return v, err
}

// idxLabels returns the path of the labels that belong to a file of images by the naming of MNIST, or "".
func idxLabels(path string) string {
	dir, name := filepath.Split(path)
	for _, c := range [][2]string{{"-images-idx3", "-labels-idx1"}, {"-images.idx3", "-labels.idx1"}, {"-images", "-labels"}} {
		if !strings.Contains(name, c[0]) {
			continue
		}
		labels := strings.Replace(name, c[0], c[1], 1)
		base := strings.TrimSuffix(labels, ".gz")
		for _, candidate := range []string{labels, base, base + ".gz"} {
			if _, err := os.Stat(dir + candidate); err == nil {
				return dir + candidate
			}
		}
	}
	return ""
}

// readCifar reads the binary layout of CIFAR-10: for each item a label and 32x32 pixels in planes of red, green, blue.
func readCifar(r io.Reader, o Options) (pixels numeric.Value, labels []int, err error) {
	const size = 1 + 3*32*32
	data, err := readAll(r)
	if err != nil {
		return pixels, nil, err
	}
	if len(data) == 0 || len(data)%size != 0 {
		return pixels, nil, fmt.Errorf("%d bytes are not CIFAR items of %d", len(data), size)
	}
	first, count, err := o.part(len(data) / size)
	if err != nil {
		return pixels, nil, err
	}
	pixels = numeric.NewValue(numeric.U8, count, 3, 32, 32)
	labels = make([]int, count)
	for i := range count {
		item := data[(first+i)*size:]
		labels[i] = int(item[0])
		copy(pixels.Data[i*(size-1):], item[1:size])
	}
	return pixels, labels, nil
}

// readRaw reads elements without a header; the options say type and shape of an item.
func readRaw(r io.Reader, o Options) (numeric.Value, error) {
	v := numeric.Value{Type: o.Type}
	row := o.Type.Size()
	if row == 0 {
		return v, fmt.Errorf("a raw file needs the type of its elements")
	}
	for _, d := range o.Shape {
		if d < 1 || row > maxBytes/d {
			return v, fmt.Errorf("item shape %v", o.Shape)
		}
		row *= d
	}
	data, err := readAll(r)
	if err != nil {
		return v, err
	}
	if len(data) == 0 || len(data)%row != 0 {
		return v, fmt.Errorf("%d bytes are not items of %s%v, %d bytes each", len(data), o.Type, o.Shape, row)
	}
	first, count, err := o.part(len(data) / row)
	if err != nil {
		return v, err
	}
	v.Dims = append([]int{count}, o.Shape...)
	v.Data = data[first*row : (first+count)*row]
	return v, nil
}

// readLabels reads a file of labels: an idx or .npy list, or one byte an item; of the same items as the data.
func readLabels(path string, o Options) ([]int, error) {
	s, err := openStream(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	head, _ := s.Peek(6)
	var v numeric.Value
	switch {
	case string(head) == "\x93NUMPY":
		v, err = readNpy(s, maxBytes, o.part)
	case len(head) >= 4 && head[0] == 0 && head[1] == 0 && (head[2] == 8 || head[2] == 9) && head[3] == 1:
		v, err = readIdx(s, o.part)
	default:
		o.Type, o.Shape = numeric.U8, nil
		v, err = readRaw(s, o)
	}
	if err != nil {
		return nil, fmt.Errorf("labels %s: %w", path, err)
	}
	labels, err := toLabels(v)
	if err != nil {
		return nil, fmt.Errorf("labels %s: %w", path, err)
	}
	return labels, nil
}
