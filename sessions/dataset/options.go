package dataset

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// Options say how to read data. The zero value takes arrays as they are and images as RGB in planes, scaled to 0..1.
type Options struct {
	First int // the first item to use
	Limit int // how many; 0: all

	// Of pixels (images, idx, CIFAR): value = (pixel*Scale - Mean[c]) / Std[c].
	Scale     float32   // 0: 1/255 for pixels, 1 for other numbers
	Mean, Std []float32 // one for each channel, or one for all; nil: 0 and 1
	Size      int       // height and width; 0: as the data has it, for images 224
	Pad       bool      // bring smaller images to Size by zeros around them instead of by resizing
	Resize    int       // of image files, the shorter side before a square of Size is cut from the middle; 0: Size*256/224
	Channels  int       // 1 or 3; 0: as the data has it, for image files 3
	NHWC      bool      // pixels as [H,W,C] instead of [C,H,W]
	BGR       bool      // blue first instead of red; Mean and Std are in that order too

	LabelOffset int // added to every label

	NotFinite bool // take NaN and infinities, which are errors else

	// Of raw files, which have no header.
	Shape  []int // of one item
	Type   graph.DataType
	Range  graph.Range // what the integers stand for: they are dequantised, if it is set
	Labels string      // file of labels: one byte an item, idx, or .npy
}

// ParseItems reads a range of items such as "500-1999", "500-" or "1500" (the first so many).
func ParseItems(text string) (first, limit int, err error) {
	fail := func() (int, int, error) {
		return 0, 0, fmt.Errorf("items %q: want FIRST-LAST, FIRST- or COUNT", text)
	}
	from, to, isRange := strings.Cut(text, "-")
	a, err := strconv.Atoi(strings.TrimSpace(from))
	if err != nil || a < 0 {
		return fail()
	}
	if !isRange {
		if a == 0 {
			return fail()
		}
		return 0, a, nil
	}
	if to = strings.TrimSpace(to); to == "" {
		return a, 0, nil
	}
	b, err := strconv.Atoi(to)
	if err != nil || b < a {
		return fail()
	}
	return a, b - a + 1, nil
}

// part returns which items of n are to be used.
func (o Options) part(n int) (first, count int, err error) {
	if o.First < 0 || o.Limit < 0 {
		return 0, 0, fmt.Errorf("first item %d and number of items %d must not be negative", o.First, o.Limit)
	}
	if o.First >= n {
		return 0, 0, fmt.Errorf("first item is %d, but there are %d", o.First, n)
	}
	count = n - o.First
	if o.Limit > 0 {
		if o.Limit > count {
			return 0, 0, fmt.Errorf("items %d to %d are wanted, but there are %d", o.First, o.First+o.Limit-1, n)
		}
		count = o.Limit
	}
	return o.First, count, nil
}

// check returns an error for options that cannot be meant.
func (o Options) check() error {
	if o.Size < 0 || o.Size > maxSide || o.Resize < 0 || o.Resize > maxSide {
		return fmt.Errorf("image size %d and resize %d must be from 0 to %d", o.Size, o.Resize, maxSide)
	}
	if o.Channels != 0 && o.Channels != 1 && o.Channels != 3 {
		return fmt.Errorf("%d channels; images have 1 or 3", o.Channels)
	}
	if len(o.Range.Scale) > 1 || len(o.Range.Zero) > len(o.Range.Scale) {
		return fmt.Errorf("data with %d scales; want one", len(o.Range.Scale))
	}
	for _, s := range o.Std {
		if s == 0 || s != s {
			return fmt.Errorf("a standard deviation is %v", s)
		}
	}
	return nil
}

// maxSide bounds the height and width of images.
const maxSide = 1 << 14
