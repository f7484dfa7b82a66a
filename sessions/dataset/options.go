package dataset

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph/numeric"
)

// Options say how to read data. The zero value takes arrays as they are and images as RGB in planes, scaled to 0..1.
type Options struct {
	First int // the first item to use
	Limit int // how many; 0: all

	// Of pixels (images, idx, CIFAR): value = (pixel*Scale - Mean[c]) / Std[c].
	Scale         float32   // 0: 1/255 for pixels, 1 for other numbers
	Mean, Std     []float32 // one for each channel, or one for all; nil: 0 and 1
	Size          Size      // zero: as the data has it, for image files ImageSize
	ImageSize     Size      // of image files where Size does not say it, as a model takes them; zero: 224x224
	Pad           bool      // bring smaller images to Size by zeros around them instead of by resizing
	Resize        Resize    // of image files
	Channels      int       // 1 or 3; 0: as the data has it, for image files ImageChannels
	ImageChannels int       // of image files where Channels does not say it, as a model takes them; 0: 3
	NHWC          bool      // pixels as [H,W,C] instead of [C,H,W]
	BGR           bool      // blue first instead of red; Mean and Std are in that order too

	LabelOffset int // added to every label

	Inputs []string // arrays of a .npz that are inputs of the network, though [IsLabels] takes them for labels

	NotFinite bool // take NaN and infinities, which are errors else

	// Of raw files, which have no header.
	Shape []int // of one item
	Type  numeric.DataType
	Range numeric.Range // what the integers stand for: they are dequantised, if it is set

	// Labels is a file of labels where the data has none: one byte an item, idx, or .npy. Of a folder of images, boxes as well: a .json of
	// COCO's form, or a folder of YOLO's, with a .txt of each image's name.
	Labels string
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
	if n == 0 {
		return 0, 0, errors.New("there are no items")
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
	if s := o.Size; s != (Size{}) && (min(s.Height, s.Width) < 1 || max(s.Height, s.Width) > maxSide) {
		return fmt.Errorf("image size %s: a side must be from 1 to %d", s, maxSide)
	}
	if n := o.Resize.Shorter; n < 0 || n > maxSide {
		return fmt.Errorf("images resized to %d: want 1 to %d", n, maxSide)
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

// Size is the height and width of pictures.
type Size struct{ Height, Width int }

// String writes a size as [ParseSize] reads it.
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Height, s.Width) }

// ParseSize reads a size such as "224", the side of a square, or "480x640", height and width.
func ParseSize(text string) (Size, error) {
	high, wide, two := strings.Cut(text, "x")
	if !two {
		wide = high
	}
	h, err := strconv.Atoi(high)
	w, bad := strconv.Atoi(wide)
	if err != nil || bad != nil || min(h, w) < 1 || max(h, w) > maxSide {
		return Size{}, fmt.Errorf("size %s: want 1 to %d, or HEIGHTxWIDTH", text, maxSide)
	}
	return Size{h, w}, nil
}

// Resize says how image files are brought to a size, unless they have it. The zero value cuts the size from the middle of the image, whose
// shorter side is made 256/224 of the size's longer one before, as torchvision's Resize and CenterCrop do.
type Resize struct {
	Stretch   bool // to the size, whatever that does to the proportions
	Letterbox bool // to as much as the size has room for, in the middle of Grey
	Grey      byte
	Shorter   int // that the shorter side is made before the size is cut; 0: 256/224 of the size's longer side
}

// String writes what [ParseResize] reads.
func (how Resize) String() string {
	switch {
	case how.Stretch:
		return "stretch"
	case how.Letterbox:
		return fmt.Sprintf("letterbox:%d", how.Grey)
	case how.Shorter == 0:
		return "crop"
	}
	return fmt.Sprintf("crop:%d", how.Shorter)
}

// Letterboxed is how images are brought to a size whose boxes are to be found: none is cut off, and proportions stay.
var Letterboxed = Resize{Letterbox: true, Grey: 114}

// ParseResize reads "crop", "crop:256", whose number is the shorter side, "stretch", "letterbox" or "letterbox:0", whose number is the
// grey around the image, 114 where none is said.
func ParseResize(text string) (Resize, error) {
	policy, side, given := strings.Cut(text, ":")
	n, err := 0, error(nil)
	if given {
		n, err = strconv.Atoi(side)
	}
	switch {
	case policy == "stretch" && !given:
		return Resize{Stretch: true}, nil
	case policy == "letterbox" && !given:
		return Letterboxed, nil
	case policy == "letterbox" && err == nil && n >= 0 && n <= 255:
		return Resize{Letterbox: true, Grey: byte(n)}, nil
	case policy == "crop" && err == nil && (!given || n >= 1 && n <= maxSide):
		return Resize{Shorter: n}, nil
	}
	return Resize{}, fmt.Errorf("resize %s: want crop, crop:SIDE with a side from 1 to %d, stretch, letterbox or letterbox:GREY with a grey from 0 to 255", text, maxSide)
}
