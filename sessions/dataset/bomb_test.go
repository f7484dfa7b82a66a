package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"runtime"
	"strings"
	"testing"
)

// allocated returns how many MiB f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc-before.TotalAlloc) >> 20
}

// TestImageBomb: an image whose header says that it is huge is refused before memory is taken for it.
func TestImageBomb(t *testing.T) {
	var small, photo bytes.Buffer
	if err := png.Encode(&small, image.NewNRGBA64(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&photo, image.NewRGBA(image.Rect(0, 0, 4, 4)), nil); err != nil {
		t.Fatal(err)
	}
	p := small.Bytes() // the width and height of IHDR, and its checksum
	binary.BigEndian.PutUint32(p[16:], 10000)
	binary.BigEndian.PutUint32(p[20:], 10000)
	binary.BigEndian.PutUint32(p[29:], crc32.ChecksumIEEE(p[12:29]))
	j := photo.Bytes() // those of the frame, behind its marker, length and precision
	frame := bytes.Index(j, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(j[frame+5:], 10000)
	binary.BigEndian.PutUint16(j[frame+7:], 10000)
	for name, data := range map[string][]byte{"a.png": p, "a.jpg": j} {
		path := write(t, t.TempDir(), name, data)
		var err error
		if got := allocated(func() { _, err = readImage(path) }); got > 4 {
			t.Errorf("%s: %d MiB were allocated", name, got)
		}
		if err == nil || !strings.Contains(err.Error(), "bytes cannot hold an image of 10000x10000: the file is damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestImagesOfLittle: images that compress as well as images can are no damaged files.
func TestImagesOfLittle(t *testing.T) {
	r := image.Rect(0, 0, 1500, 1500)
	for name, m := range map[string]image.Image{"grey": image.NewGray(r), "grey of 16 bits": image.NewGray16(r), "opacity": image.NewNRGBA(r), "deep": image.NewNRGBA64(r)} {
		var p, j bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&p, m); err != nil {
			t.Fatal(err)
		}
		if err := jpeg.Encode(&j, m, &jpeg.Options{Quality: 1}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{write(t, t.TempDir(), "a.png", p.Bytes()), write(t, t.TempDir(), "a.jpg", j.Bytes())} {
			if got, err := readImage(path); err != nil || got.width != 1500 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestArraysBomb: the arrays of an archive are bounded together, before memory is taken for the one too many.
func TestArraysBomb(t *testing.T) {
	array := npy(1, "|u1", "(1000, 1000)", make([]byte, 1000*1000))
	b := npz(t, map[string][]byte{"a.npy": array, "b.npy": array}, "a.npy", "b.npy")
	archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readMember(archive.File[1], 999_999, everything); err != errTooLarge {
		t.Errorf("an array of 1000000 bytes where 999999 are left: %v", err)
	}
	if _, err := readMember(archive.File[1], 1_000_000, everything); err != nil {
		t.Error(err)
	}
}
