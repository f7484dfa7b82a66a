package dataset

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // the formats that image.Decode knows
	_ "image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/internal/host"
)

// openImages returns a set of the JPEG and PNG files of a folder. With a labels.tsv (columns: file, class index; a
// heading is skipped) the items are those that it names, in its order; else all files by name, without labels. An image
// is decoded when it is fed and, unless it has Size, brought to it as Resize says, bilinear and antialiased.
func openImages(dir string, o Options) (*Set, error) {
	l, err := labelledImages(dir, o)
	if err != nil {
		return nil, err
	}
	if o.Size == (Size{}) {
		o.Size = cmp.Or(o.ImageSize, Size{224, 224})
	}
	cuts := !o.Resize.Stretch && !o.Resize.Letterbox
	if longer := max(o.Size.Height, o.Size.Width); cuts && o.Resize.Shorter == 0 {
		o.Resize.Shorter = longer * 256 / 224
	} else if cuts && o.Resize.Shorter < longer && !o.Pad {
		return nil, fmt.Errorf("images whose shorter side is %d may be smaller than %s, to which they are cropped", o.Resize.Shorter, o.Size)
	}
	layout, err := newLayout(o, cmp.Or(o.ImageChannels, 3), o.Size.Height, o.Size.Width)
	if err != nil {
		return nil, err
	}
	id, err := l.identity(dir, o)
	if err != nil {
		return nil, err
	}
	boxes, err := placed(dir, l.files, l.truth, o)
	if err != nil {
		return nil, err
	}
	return &Set{
		Name: filepath.Base(dir), Labels: l.labels, Identity: id, length: len(l.files), boxes: boxes, size: o.Size, how: o.Resize,
		Inputs: []Input{{"", numeric.F32, layout.dims()}},
		file:   func(i int) string { return filepath.Join(dir, l.files[i]) },
		read: func(i, _ int, dst *numeric.Value) error {
			p, err := readImage(filepath.Join(dir, l.files[i]))
			if err != nil {
				return err
			}
			if p, err = p.fit(o.Size, o.Resize); err != nil {
				return fmt.Errorf("%s: %w", l.files[i], err)
			}
			return layout.store(p, *dst)
		},
	}, nil
}

// imageList is files of a folder with what is known of them.
type imageList struct {
	files  []string
	labels []int     // nil: none
	truth  [][]truth // nil: none
}

// labelledImages returns the images of a folder that the options choose.
func labelledImages(dir string, o Options) (l imageList, err error) {
	if l.files, l.labels, err = listImages(dir); err != nil {
		return l, err
	}
	switch {
	case o.Labels == "":
	case HasBoxes(o.Labels):
		l.labels = nil
		l.files, l.truth, err = readBoxes(o.Labels, l.files)
	case l.labels == nil:
		if l.labels, err = readLabels(o.Labels, Options{}); err == nil && len(l.labels) != len(l.files) {
			err = fmt.Errorf("%d labels for %d images", len(l.labels), len(l.files))
		}
	}
	if err != nil {
		return l, err
	}
	first, count, err := o.part(len(l.files))
	if err != nil {
		return l, err
	}
	l.files = l.files[first : first+count]
	if l.labels != nil {
		l.labels = l.labels[first : first+count]
	}
	if l.truth != nil {
		l.truth = l.truth[first : first+count]
	}
	return l, nil
}

func isImage(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jpg", ".jpeg", ".png":
		return true
	}
	return false
}

// listImages returns the images of a folder and their labels.
func listImages(dir string) (files []string, labels []int, err error) {
	text, err := host.ReadUpTo(filepath.Join(dir, "labels.tsv"), maxBytes)
	if os.IsNotExist(err) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			if isImage(e.Name()) {
				files = append(files, e.Name())
			}
		}
		return files, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		file, rest, _ := strings.Cut(lines.Text(), "\t")
		class, _, _ := strings.Cut(rest, "\t")
		if file == "" {
			continue
		}
		label, err := strconv.Atoi(strings.TrimSpace(class))
		if err != nil && n == 1 {
			continue
		}
		if err != nil || label < 0 {
			return nil, nil, fmt.Errorf("labels.tsv, line %d: want a file and a class index, got %q", n, lines.Text())
		}
		if !filepath.IsLocal(file) {
			return nil, nil, fmt.Errorf("labels.tsv, line %d: %q is not a file in the folder", n, file)
		}
		files, labels = append(files, file), append(labels, label)
	}
	return files, labels, lines.Err()
}

// identity takes in names, sizes and times, since the contents may be many gigabytes.
func (l *imageList) identity(dir string, o Options) (Identity, error) {
	id := Identity{Path: dir}
	h := sha256.New()
	for _, name := range l.files {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return id, fmt.Errorf("image %s: %w", name, err)
		}
		id.Size += info.Size()
		if info.ModTime().After(id.ModTime) {
			id.ModTime = info.ModTime()
		}
		fmt.Fprintf(h, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	}
	fmt.Fprintf(h, "%v %+v", l.labels, o)
	if l.truth != nil {
		fmt.Fprintf(h, " %v", l.truth)
	}
	id.Hash = hex.EncodeToString(h.Sum(nil))
	return id, nil
}

// readImage decodes a file to RGB; transparency is ignored.
func readImage(path string) (picture, error) {
	f, err := host.Open(path)
	if err != nil {
		return picture{}, err
	}
	defer f.Close()
	cfg, format, err := image.DecodeConfig(f)
	if err != nil {
		return picture{}, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	if cfg.Width < 1 || cfg.Height < 1 || cfg.Width > maxPixels/cfg.Height {
		return picture{}, fmt.Errorf("%s: an image of %dx%d is too large", filepath.Base(path), cfg.Width, cfg.Height)
	}
	info, err := f.Stat()
	if err != nil {
		return picture{}, err
	}
	if leastImageBytes(format, cfg) > info.Size() {
		return picture{}, fmt.Errorf("%s: %d bytes cannot hold an image of %dx%d: the file is damaged", filepath.Base(path), info.Size(), cfg.Width, cfg.Height)
	}
	if _, err := f.Seek(0, 0); err != nil {
		return picture{}, err
	}
	m, _, err := image.Decode(f)
	if err != nil {
		return picture{}, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return newPicture(m), nil
}

// leastImageBytes returns how many bytes the file of an image has at least, so that no memory is taken for what a damaged
// header says. JPEG has a bit for each block of 64 pixels; Deflate, which PNG is packed with, makes 1032 bytes of one.
func leastImageBytes(format string, cfg image.Config) int64 {
	pixels := int64(cfg.Width) * int64(cfg.Height)
	if format == "jpeg" {
		return pixels / (8 * 64)
	}
	unpacked := pixels / 8 // those of one bit
	switch cfg.ColorModel {
	case color.NRGBA64Model, color.RGBA64Model: // of 16 bits, grey with opacity or colour
		unpacked = 4 * pixels
	case color.NRGBAModel, color.RGBAModel, color.Gray16Model:
		unpacked = 2 * pixels
	}
	return unpacked / 1032
}

// newPicture returns the red, green and blue of an image.
func newPicture(m image.Image) picture {
	b := m.Bounds()
	n := b.Dx() * b.Dy()
	p := picture{3, b.Dy(), b.Dx(), make([]byte, 3*n)}
	i := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			red, green, blue := rgb(m, x, y)
			p.pix[i], p.pix[n+i], p.pix[2*n+i] = red, green, blue
			i++
		}
	}
	return p
}

// rgb returns a pixel's colour, not multiplied by its opacity.
func rgb(m image.Image, x, y int) (r, g, b byte) {
	if m, ok := m.(*image.NRGBA); ok {
		c := m.NRGBAAt(x, y)
		return c.R, c.G, c.B
	}
	red, green, blue, alpha := m.At(x, y).RGBA()
	if alpha == 0 {
		return 0, 0, 0
	}
	scale := func(v uint32) byte { return byte(min(0xffff, v*0xffff/alpha) >> 8) }
	return scale(red), scale(green), scale(blue)
}
