package asm

import "testing"

func TestFeaturesText(t *testing.T) {
	for text, want := range map[string]Features{
		"generic":         0,
		"avx2":            AVX2,
		"avx2+avxvnni":    AVX2 | AVXVNNI,
		"avx512":          AVX512 | AVX2,
		"avx512+vnni":     AVX512 | AVX512VNNI | AVX2,
		"avx512+vnni+amx": AVX512 | AVX512VNNI | AVX2 | AMXInt8,
	} {
		got, err := ParseFeatures(text)
		if err != nil || got != want {
			t.Errorf("ParseFeatures(%q) = %b, %v, want %b", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("ParseFeatures(%q).String() = %q", text, got)
		}
	}
	if s, err := ParseFeatures("avx512+sse"); err == nil {
		t.Errorf(`ParseFeatures("avx512+sse") = %v`, s)
	}
	if s := HostFeatures(); s.Has(AVX512) && !s.Has(AVX2) || s.Has(AVX512VNNI) && !s.Has(AVX512) || s.Has(AVXVNNI) && !s.Has(AVX2) {
		t.Errorf("HostFeatures() = %b: AVX-512 has AVX2", s)
	}
}
