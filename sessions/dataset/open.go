package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Open reads the data at a path, whose form follows from its content:
//
//	.npz         numpy arrays: x, or by input name; labels in y, unless Options.Inputs has it
//	.npy         one numpy array
//	.json        inputs that Polygraphy saved
//	idx          as MNIST; labels from the file with "labels" for "images" in its name; may be gzip
//	CIFAR-10     binary version; may be gzip
//	raw          elements of Options.Type, items of Options.Shape; labels from Options.Labels; may be gzip
//	folder       ONNX test data (input_0.pb or test_data_set_N), or JPEG and PNG images with labels.tsv
//
// Errors name the path and what was expected.
func Open(path string, o Options) (*Set, error) {
	s, err := open(path, o)
	if err != nil {
		return nil, fmt.Errorf("data %s: %w", path, err)
	}
	s.notFinite = o.NotFinite
	if o.LabelOffset != 0 {
		s.Labels = slices.Clone(s.Labels)
		for i, l := range s.Labels {
			if l < 0 {
				continue
			}
			if s.Labels[i] = l + o.LabelOffset; s.Labels[i] < 0 {
				return nil, fmt.Errorf("data %s: label %d of item %d is no class with %d added to it", path, l, i, o.LabelOffset)
			}
		}
	}
	return s, nil
}

func open(path string, o Options) (*Set, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return openFolder(path, o)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("not a file or folder")
	}
	f, err := openStream(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := f.set(path, info.Size(), o)
	if err != nil {
		return nil, err
	}
	s.Name = filepath.Base(path)
	if s.Labels == nil && o.Labels != "" {
		if s.Labels, err = readLabels(o.Labels, o); err != nil {
			return nil, err
		}
	}
	if s.Labels != nil && len(s.Labels) != s.Len() && !s.arrays {
		return nil, fmt.Errorf("%d labels for %d items", len(s.Labels), s.Len())
	}
	s.Identity, err = f.identity(path, o)
	return s, err
}

// set reads the file by its form.
func (f *stream) set(path string, size int64, o Options) (*Set, error) {
	head, _ := f.Peek(6)
	isIdx := len(head) >= 4 && head[0] == 0 && head[1] == 0 && (head[2] == 8 || head[2] == 9) && head[3] >= 1 && head[3] <= 4
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		arrays, labels, err := readNpz(f.file, size, o)
		if err != nil {
			return nil, err
		}
		return o.arrays(arrays, labels)
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		v, err := readNpy(f, maxBytes, o.part)
		if err != nil {
			return nil, err
		}
		return o.arrays([]Array{{"", v}}, nil)
	case isFeeds(head) && len(o.Shape) == 0:
		return readFeeds(f, o)
	case len(o.Shape) > 0:
		v, err := readRaw(f, o)
		if err != nil {
			return nil, err
		}
		return o.arrays([]Array{{"", v}}, nil)
	case isIdx:
		v, err := readIdx(f, o.part)
		if err != nil {
			return nil, err
		}
		var labels []int
		if p := idxLabels(path); p != "" && o.Labels == "" {
			if labels, err = readLabels(p, o); err != nil {
				return nil, err
			}
		}
		return newPixels("", v, labels, o)
	case slices.Contains([]string{".bin", ".gz"}, filepath.Ext(path)):
		v, labels, err := readCifar(f, o)
		if err != nil {
			return nil, &UnknownForm{fmt.Errorf("%w, and other raw data need the type and shape of an item", err)}
		}
		return newPixels("", v, labels, o)
	}
	return nil, &UnknownForm{errors.New("its form is unknown; want .npz, .npy, inputs that Polygraphy saved, idx, CIFAR, a folder of ONNX test data or of images, or raw data with the type and shape of an item")}
}

// UnknownForm is the error of a file in none of the forms that can be told apart: raw data are read where the type and shape of an
// item are given.
type UnknownForm struct{ Err error }

func (u *UnknownForm) Error() string { return u.Err.Error() }
func (u *UnknownForm) Unwrap() error { return u.Err }

// arrays returns the set of arrays, changed as the options say.
func (o Options) arrays(arrays []Array, labels []int) (*Set, error) {
	if o.Range.IsSet() || o.Scale != 0 || o.Mean != nil || o.Std != nil {
		for i, a := range arrays {
			v, err := o.normalise(a.Value)
			if err != nil {
				return nil, fmt.Errorf("array %s: %w", a.Name, err)
			}
			arrays[i].Value = v
		}
	}
	return New("", arrays, labels)
}

// normalise returns the real numbers that v's elements stand for, scaled and shifted. Of several means and standard
// deviations there is one for each channel, axis 1, or the last with NHWC.
func (o Options) normalise(v numeric.Value) (numeric.Value, error) {
	if v.Len() > maxBytes/4 {
		return v, errTooLarge
	}
	if v = numeric.ToReal(v, o.Range); v.Type != numeric.F32 {
		v = numeric.Value{Type: numeric.F32, Dims: v.Dims, Data: numeric.Bytes(v.Floats())}
	}
	axis := 1
	if o.NHWC {
		axis = len(v.Dims) - 1
	}
	channels, inner := 1, 1
	if axis > 0 && axis < len(v.Dims) {
		channels, inner = v.Dims[axis], numeric.Count(v.Dims[axis+1:])
	}
	for name, list := range map[string][]float32{"means": o.Mean, "standard deviations": o.Std} {
		if len(list) > 1 && len(list) != channels {
			return v, fmt.Errorf("%d %s for %d channels", len(list), name, channels)
		}
	}
	scale := o.Scale
	if scale == 0 {
		scale = 1
	}
	for i, x := range v.F32() {
		c := i / max(1, inner) % max(1, channels)
		v.F32()[i] = (x*scale - channel(o.Mean, c, 0)) / channel(o.Std, c, 1)
	}
	return v, nil
}

// openFolder tells ONNX test data from images.
func openFolder(dir string, o Options) (*Set, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	folders, err := onnxFolders(dir)
	if err != nil {
		return nil, err
	}
	if len(folders) > 0 {
		return openONNX(dir, o)
	}
	var files []string
	for _, e := range entries {
		if isImage(e.Name()) {
			return openImages(dir, o)
		}
		if name := e.Name(); strings.Contains(name, "-images") || strings.Contains(name, ".npz") || strings.Contains(name, ".bin") {
			files = append(files, name)
		}
	}
	if len(files) == 1 {
		return open(filepath.Join(dir, files[0]), o)
	}
	if len(files) > 1 {
		return nil, fmt.Errorf("the folder has several sets; name one of %s", strings.Join(files, ", "))
	}
	return nil, fmt.Errorf("the folder has neither input_0.pb, nor test_data_set_N, nor JPEG or PNG images")
}
