package dataset

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/trtui/trtui/sessions/detection"
)

func TestImages(t *testing.T) {
	dir := t.TempDir()
	m := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i := range 6 {
		m.SetNRGBA(i%3, i/3, color.NRGBA{byte(i), byte(10 * i), 200, byte(40 * i)})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "b.png", b.Bytes())
	write(t, dir, "a.png", b.Bytes())
	write(t, dir, "ignored.txt", nil)
	o := Options{Scale: 1, Size: Size{2, 2}, Resize: Resize{Shorter: 2}, Mean: []float32{0, 0, 200}, Std: []float32{1, 10, 1}}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{0, 1, 3, 4, 0, 1, 3, 4, 0, 0, 0, 0}
	if got := batch(t, s, 1, 1, 1, 3, 2, 2); s.Len() != 2 || s.Labels != nil || !slices.Equal(got, want) {
		t.Errorf("%d images, %v", s.Len(), got)
	}
	sized := o
	sized.Size, sized.ImageSize = Size{}, Size{2, 2}
	if s, err = Open(dir, sized); err != nil {
		t.Fatal(err)
	}
	if got := batch(t, s, 1, 1, 1, 3, 2, 2); !slices.Equal(got, want) {
		t.Errorf("at the model's size: %v, want %v", got, want)
	}
	o.BGR, o.Mean, o.Std = true, []float32{200, 0, 0}, []float32{1, 10, 1} // in the model's order
	if s, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	want = []float32{0, 0, 0, 0, 0, 1, 3, 4, 0, 1, 3, 4}
	if got := batch(t, s, 1, 1, 1, 3, 2, 2); !slices.Equal(got, want) {
		t.Errorf("blue first: %v, want %v", got, want)
	}
	o.NHWC = true
	if s, err = Open(dir, o); err != nil {
		t.Fatal(err)
	}
	if got := batch(t, s, 1, 1, 1, 2, 2, 3)[3:6]; !slices.Equal(got, []float32{0, 1, 1}) {
		t.Errorf("blue first, channels last: the second pixel is %v", got)
	}
	write(t, dir, "labels.tsv", []byte("file\tclass\tname\nb.png\t7\tthing\n"))
	if s, err = Open(dir, o); err != nil || s.Len() != 1 || !slices.Equal(s.Labels, []int{7}) {
		t.Errorf("with labels: %+v, %v", s, err)
	}
	for text, want := range map[string]string{
		"b.png\t7\nb.png\tx\n": "labels.tsv, line 2", "file\tclass\n../x.png\t1\n": "is not a file in the folder", "c.png\t1\n": "image c.png",
	} {
		write(t, dir, "labels.tsv", []byte(text))
		if _, err := Open(dir, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// pilCases are pictures with what PIL makes of them: testdata/pil.py.
type pilCases struct {
	Resized []struct {
		pilCase
		WantH int `json:"want_h"`
		WantW int `json:"want_w"`
		Grey  string
	}
	Fitted []struct {
		pilCase
		Policy, Size string
	}
}

type pilCase struct {
	H, W      int
	Pix, Want string // planes of bytes, in hexadecimal
}

func readPIL(t *testing.T) (cases pilCases) {
	t.Helper()
	b, err := os.ReadFile("testdata/pil.json")
	if err == nil {
		err = json.Unmarshal(b, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func fromHex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// like holds a picture against PIL's: its fixed-point rounding is off by one at most.
func (c pilCase) like(t *testing.T, got picture, want Size) {
	t.Helper()
	if (Size{got.height, got.width}) != want {
		t.Fatalf("%dx%d became %dx%d, want %s", c.H, c.W, got.height, got.width, want)
	}
	for i, w := range fromHex(t, c.Want) {
		if d := int(got.pix[i]) - int(w); d < -1 || d > 1 {
			t.Errorf("%dx%d to %s: pixel %d is %d, want %d", c.H, c.W, want, i, got.pix[i], w)
		}
	}
}

// pix returns n bytes that differ from their neighbours.
func pix(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 37)
	}
	return b
}

func TestResize(t *testing.T) {
	for _, c := range readPIL(t).Resized {
		p := picture{3, c.H, c.W, fromHex(t, c.Pix)}
		got, err := p.resize(c.WantH, c.WantW)
		if err != nil {
			t.Fatal(err)
		}
		c.like(t, got, Size{c.WantH, c.WantW})
		for i, w := range fromHex(t, c.Grey) {
			if g := p.at(0, 1, i); g != w {
				t.Fatalf("grey pixel %d is %d, want %d", i, g, w)
			}
		}
	}
	strip := picture{3, 1 << 20, 1, make([]byte, 3<<20)}
	if _, err := strip.fit(Size{224, 224}, Resize{Shorter: 256}); err == nil {
		t.Error("a strip was resized to a huge picture")
	}
	if got, err := strip.fit(Size{2, 3}, Resize{Stretch: true}); err != nil || got.height != 2 || got.width != 3 {
		t.Errorf("a strip is not stretched: %v", err)
	}
}

// TestFit crops as torchvision does and stretches, to sizes that are no squares, and through a folder of images.
func TestFit(t *testing.T) {
	for _, c := range readPIL(t).Fitted {
		size, err := ParseSize(c.Size)
		if err != nil {
			t.Fatal(err)
		}
		how, err := ParseResize(c.Policy)
		if err != nil {
			t.Fatal(err)
		}
		p := picture{3, c.H, c.W, fromHex(t, c.Pix)}
		got, err := p.fit(size, how)
		if err != nil {
			t.Fatal(err)
		}
		c.like(t, got, size)
		m := image.NewNRGBA(image.Rect(0, 0, c.W, c.H))
		n := c.H * c.W
		for i := range n {
			m.SetNRGBA(i%c.W, i/c.W, color.NRGBA{p.pix[i], p.pix[n+i], p.pix[2*n+i], 255})
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		write(t, dir, "a.png", b.Bytes())
		s, err := Open(dir, Options{Scale: 1, Size: size, Resize: how})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range batch(t, s, 0, 1, 1, 3, size.Height, size.Width) {
			if v != float32(got.pix[i]) {
				t.Fatalf("%s to %s: element %d of the set is %v, not %v", c.Policy, c.Size, i, v, got.pix[i])
			}
		}
	}
	for _, policy := range []string{"crop", "crop:9", "stretch", "letterbox"} {
		how, err := ParseResize(policy)
		if err != nil {
			t.Fatal(err)
		}
		p := picture{3, 8, 7, pix(3 * 8 * 7)}
		if got, err := p.fit(Size{8, 7}, how); err != nil || !bytes.Equal(got.pix, p.pix) {
			t.Errorf("%s changes a picture of the size that is wanted: %v", policy, err)
		}
		o := Options{Size: Size{8, 7}, Resize: how}
		box := truth{detection.Box{X0: 1, Y0: 2, X1: 3, Y1: 5}, false}
		if got := o.place([]truth{box}, Size{8, 7}); !slices.Equal(got, []detection.Box{box.Box}) {
			t.Errorf("%s moves a box of such a picture to %v", policy, got)
		}
	}
	dir := t.TempDir()
	write(t, dir, "a.png", nil)
	if _, err := Open(dir, Options{Size: Size{20, 10}, Resize: Resize{Shorter: 19}}); err == nil || !strings.Contains(err.Error(), "smaller than 20x10") {
		t.Errorf("a crop that is larger than the shorter side: %v", err)
	}
}
