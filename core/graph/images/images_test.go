package images

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
)

// given is an image with the pixels that Pillow has of it: testdata/images.py.
type given struct {
	Name          string
	File          []byte
	Rows, Columns int
	RGB           []byte
}

func givenImages(t testing.TB) []given {
	t.Helper()
	data, err := os.ReadFile("testdata/images.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []given
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		r, err := zlib.NewReader(bytes.NewReader(list[i].RGB))
		if err != nil {
			t.Fatal(err)
		}
		if list[i].RGB, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// TestDecode: every pixel is Pillow's.
func TestDecode(t *testing.T) {
	for _, c := range givenImages(t) {
		m, err := Decode(c.File, 64)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if m.Rows != c.Rows || m.Columns != c.Columns || len(m.RGB) != len(c.RGB) {
			t.Errorf("%s: %d rows of %d, want %d of %d", c.Name, m.Rows, m.Columns, c.Rows, c.Columns)
			continue
		}
		differ, most := 0, 0
		for i, v := range c.RGB {
			if d := int(m.RGB[i]) - int(v); d != 0 {
				differ, most = differ+1, max(most, d, -d)
			}
		}
		if differ > 0 {
			t.Errorf("%s: %d of %d bytes differ, by %d at most", c.Name, differ, len(c.RGB), most)
		}
	}
}

// TestRefused: what is too large or not supported says so, and what is damaged is no image.
func TestRefused(t *testing.T) {
	for _, c := range givenImages(t) {
		if c.Rows < 2 {
			continue
		}
		var large *TooLarge
		if _, err := Decode(c.File, c.Rows-1); !errors.As(err, &large) || large.Rows != c.Rows || large.Columns != c.Columns {
			t.Errorf("%s: %v", c.Name, err)
		}
		if _, err := Decode(c.File[:len(c.File)/2], 64); err == nil && c.Name != "bmp_bits" {
			t.Errorf("half of %s is decoded", c.Name)
		}
	}
	for _, b := range []string{"", "P", "P7 1 1", "no image", "\xff\xd8\xff\xd9", "P6 2 2 255\n123", "P6 1 1 70000 x"} {
		if _, err := Decode([]byte(b), 64); !errors.Is(err, errFormat) {
			t.Errorf("%q: %v", b, err)
		}
	}
	var other *Unsupported
	if _, err := Decode([]byte("\x00\x00\x00\x0cjP  \r\n\x87\n..."), 64); !errors.As(err, &other) {
		t.Errorf("JPEG 2000: %v", err)
	}
}

// FuzzDecode: no bytes panic, take long, or give an image of another form than it says.
func FuzzDecode(f *testing.F) {
	for _, c := range givenImages(f) {
		f.Add(c.File)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data, 96)
		if err == nil && (m.Rows < 1 || m.Rows > 96 || m.Columns < 1 || m.Columns > 96 || len(m.RGB) != 3*m.Rows*m.Columns) {
			t.Fatalf("%d rows of %d columns and %d bytes", m.Rows, m.Columns, len(m.RGB))
		}
	})
}
