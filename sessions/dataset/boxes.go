package dataset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/detection"
)

// maxBoxFile bounds a file of boxes.
const maxBoxFile = 1 << 30

// Truth is what is in an item's image: boxes in pixels of what the network reads, which is of a height and a width.
type Truth struct {
	Boxes         []detection.Box
	Height, Width int
}

// TruthOf returns the boxes of item i; ok is false where the data has none for any item.
func TruthOf(d Data, i int) (t Truth, ok bool) {
	switch d := d.(type) {
	case *Bound:
		if d.Set.boxes == nil {
			return t, false
		}
		return Truth{d.Set.boxes[i], d.Set.size.Height, d.Set.size.Width}, true
	case subset:
		return TruthOf(d.Data, d.first+i)
	case begun:
		return TruthOf(d.Data, i)
	}
	return t, false
}

// HasBoxes reports whether a path of labels is one of boxes: a .json, or a folder.
func HasBoxes(path string) bool {
	if strings.EqualFold(filepath.Ext(path), ".json") {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// truth is a box as a file of labels has it.
type truth struct {
	detection.Box      // in pixels of the image file
	share         bool // its corners are shares of the image's sides
}

// readBoxes returns the images that a file of labels names, or else those given, and their boxes.
func readBoxes(path string, images []string) (files []string, boxes [][]truth, err error) {
	if strings.EqualFold(filepath.Ext(path), ".json") {
		files, boxes, err = readCOCO(path)
	} else {
		files = images
		boxes, err = readYOLO(path, images)
	}
	if err != nil {
		err = fmt.Errorf("labels %s: %w", path, err)
	}
	return files, boxes, err
}

// cocoFile is what counts of COCO's form of instances.
type cocoFile struct {
	Images []struct {
		ID   int64  `json:"id"`
		File string `json:"file_name"`
	} `json:"images"`
	Annotations []struct {
		Image    int64     `json:"image_id"`
		Category int       `json:"category_id"`
		Box      []float64 `json:"bbox"`
		Crowd    int       `json:"iscrowd"`
	} `json:"annotations"`
	Categories []struct {
		ID int `json:"id"`
	} `json:"categories"`
}

// readCOCO reads instances as COCO has them. Classes are the places of their categories in the order of ids.
func readCOCO(path string) (files []string, boxes [][]truth, err error) {
	f, err := host.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	limited := &io.LimitedReader{R: f, N: maxBoxFile}
	var c cocoFile
	if err := json.NewDecoder(bufio.NewReader(limited)).Decode(&c); err != nil {
		if limited.N == 0 {
			return nil, nil, fmt.Errorf("more than %d MiB", maxBoxFile>>20)
		}
		return nil, nil, fmt.Errorf("no instances in COCO's form: %w", err)
	}
	if len(c.Images) == 0 || len(c.Categories) == 0 {
		return nil, nil, errors.New("no instances in COCO's form: images or categories are missing")
	}
	var ids []int
	for _, k := range c.Categories {
		ids = append(ids, k.ID)
	}
	slices.Sort(ids)
	files, boxes = make([]string, len(c.Images)), make([][]truth, len(c.Images))
	at := map[int64]int{}
	for i, m := range c.Images {
		if _, twice := at[m.ID]; twice {
			return nil, nil, fmt.Errorf("image %d is there twice", m.ID)
		}
		if !filepath.IsLocal(m.File) {
			return nil, nil, fmt.Errorf("image %d: %q is no file in the folder of images", m.ID, m.File)
		}
		at[m.ID], files[i] = i, m.File
	}
	for i, a := range c.Annotations {
		class, ok := slices.BinarySearch(ids, a.Category)
		image, known := at[a.Image]
		switch {
		case !ok:
			return nil, nil, fmt.Errorf("annotation %d: there is no category %d", i, a.Category)
		case !known:
			return nil, nil, fmt.Errorf("annotation %d: there is no image %d", i, a.Image)
		case len(a.Box) != 4 || !(a.Box[2] >= 0 && a.Box[3] >= 0):
			return nil, nil, fmt.Errorf("annotation %d: its bbox is %v, want x, y, width and height", i, a.Box)
		}
		b := detection.Box{X0: a.Box[0], Y0: a.Box[1], X1: a.Box[0] + a.Box[2], Y1: a.Box[1] + a.Box[3], Class: class, Category: a.Category, Crowd: a.Crowd != 0}
		boxes[image] = append(boxes[image], truth{Box: b})
	}
	return files, boxes, nil
}

// readYOLO reads a folder of text files, one an image: lines of a class and, as shares of the image's sides, the centre and the size of
// a box. An image without a file has no boxes.
func readYOLO(dir string, images []string) ([][]truth, error) {
	list, read := make([][]truth, len(images)), 0
	for i, name := range images {
		file := strings.TrimSuffix(name, filepath.Ext(name)) + ".txt"
		boxes, err := readYOLOFile(filepath.Join(dir, file))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		list[i] = boxes
		read++
	}
	if read == 0 {
		return nil, errors.New("no image has a .txt of its name there")
	}
	return list, nil
}

func readYOLOFile(path string) (boxes []truth, err error) {
	f, err := host.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	whole, err := host.Whole(f)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(io.LimitReader(whole, maxBoxFile))
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 {
			continue
		}
		bad := func() ([]truth, error) {
			return nil, fmt.Errorf("line %d: want a class and the centre and size of a box from 0 to 1, got %q", n, lines.Text())
		}
		if len(fields) != 5 {
			return bad()
		}
		class, err := strconv.Atoi(fields[0])
		var v [4]float64
		for k := range v {
			var e error
			if v[k], e = strconv.ParseFloat(fields[k+1], 64); e != nil || !(v[k] >= 0 && v[k] <= 1) {
				return bad()
			}
		}
		if err != nil || class < 0 {
			return bad()
		}
		b := detection.Box{X0: v[0] - v[2]/2, Y0: v[1] - v[3]/2, X1: v[0] + v[2]/2, Y1: v[1] + v[3]/2, Class: class, Category: class}
		boxes = append(boxes, truth{b, true})
	}
	return boxes, lines.Err()
}

// placed returns the boxes of all images of a folder where they are in what the network reads; nil where the images have none.
func placed(dir string, images []string, boxes [][]truth, o Options) (all [][]detection.Box, err error) {
	for i, boxes := range boxes {
		size, err := imageSize(filepath.Join(dir, images[i]))
		if err != nil {
			return nil, err
		}
		all = append(all, o.place(boxes, size))
	}
	return all, nil
}

// place moves the boxes of an image of a size. What is cut off is no part of a box, and a box of which nothing is left is none.
func (o Options) place(boxes []truth, from Size) (list []detection.Box) {
	at := o.Resize.place(from, o.Size)
	move := func(v float64, share bool, side, to, before, most int) float64 {
		if !share {
			v /= float64(side)
		}
		return math.Min(float64(most), math.Max(0, v*float64(to)+float64(before)))
	}
	for _, t := range boxes {
		b := t.Box
		for _, v := range []*float64{&b.X0, &b.X1} {
			*v = move(*v, t.share, from.Width, at.size.Width, at.left, o.Size.Width)
		}
		for _, v := range []*float64{&b.Y0, &b.Y1} {
			*v = move(*v, t.share, from.Height, at.size.Height, at.top, o.Size.Height)
		}
		b.Class, b.Category = b.Class+o.LabelOffset, b.Category+o.LabelOffset
		if b.X1 > b.X0 && b.Y1 > b.Y0 {
			list = append(list, b)
		}
	}
	return list
}

// imageSize returns the size of an image file, from its header.
func imageSize(path string) (Size, error) {
	f, err := host.Open(path)
	if err != nil {
		return Size{}, err
	}
	defer f.Close()
	c, _, err := image.DecodeConfig(f)
	if err == nil && (c.Width < 1 || c.Height < 1) {
		err = errors.New("it has no pixels")
	}
	if err != nil {
		return Size{}, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return Size{c.Height, c.Width}, nil
}
