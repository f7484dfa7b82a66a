package dataset

import (
	"testing"
)

func TestParseItems(t *testing.T) {
	for text, want := range map[string][2]int{"500-1999": {500, 1500}, "500-": {500, 0}, "1500": {0, 1500}, "0-0": {0, 1}} {
		if first, limit, err := ParseItems(text); err != nil || first != want[0] || limit != want[1] {
			t.Errorf("%s: %d %d %v", text, first, limit, err)
		}
	}
	for _, text := range []string{"", "x", "-5", "5-4", "0", "1-2-3"} {
		if _, _, err := ParseItems(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{"224": {224, 224}, "480x640": {480, 640}, "1x16384": {1, 16384}} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-3", "x", "3x", "x3", "3x4x5", "16385", "3X4"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestParseResize(t *testing.T) {
	for text, want := range map[string]Resize{"crop": {}, "crop:256": {Shorter: 256}, "stretch": {Stretch: true}, "letterbox:7": {Letterbox: true, Grey: 7}} {
		if got, err := ParseResize(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Crop", "crop:", "crop:0", "crop:x", "stretch:3", "fit"} {
		if got, err := ParseResize(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
