package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/sessions/report"
)

// CalibrationCache is TensorRT's text of that name: a header, and a line for each tensor with the bits of its scale, most
// significant first, in hexadecimal. The scale is a 127th of the largest magnitude that int8 stands for. Tensors are those of the network
// before fusion.
type CalibrationCache struct {
	Header string // the first line, "TRT-8601-EntropyCalibration2"
	Scales []TensorScale
}

// TensorScale is the scale of a tensor.
type TensorScale struct {
	Tensor string
	Scale  float32 // 0 or more, finite; 0 of a tensor that has only zeros
}

// CacheAlgorithms are the calibrators of TensorRT that a header can name. TensorRT reads a cache where the header has the name of
// the calibrator that asks for it, and that of trtexec is the first.
func CacheAlgorithms() []string { return []string{"EntropyCalibration2", "MinMaxCalibration"} }

const cachePrefix = "TRT-"

// CacheHeader returns the first line of a cache for a version of TensorRT, as "8.6.1" or "10.3.0". What it has of a version is
// a number of thousands up to version 9, and of tens of thousands from there on.
func CacheHeader(version, algorithm string) (string, error) {
	parts := strings.Split(version, ".")
	numbers := make([]int, 3)
	if len(parts) < 2 || len(parts) > 4 { // the fourth is the build's
		return "", fmt.Errorf("TensorRT version %s: want three numbers, as 10.3.0", quoted(version))
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 99 {
			return "", fmt.Errorf("TensorRT version %s: want three numbers, as 10.3.0", quoted(version))
		}
		if i < len(numbers) {
			numbers[i] = n
		}
	}
	major := 1000
	if numbers[0] >= 10 {
		major = 10000
	}
	return fmt.Sprintf("%s%d-%s", cachePrefix, numbers[0]*major+numbers[1]*100+numbers[2], algorithm), nil
}

// IsCalibrationCache reports whether a file begins as one.
func IsCalibrationCache(head []byte) bool { return bytes.HasPrefix(head, []byte(cachePrefix)) }

// ParseCalibrationCache reads a cache. An error names the line.
func ParseCalibrationCache(data []byte) (*CalibrationCache, error) {
	if !IsCalibrationCache(data) {
		return nil, fmt.Errorf("line 1: want %sVERSION-ALGORITHM", cachePrefix)
	}
	if len(data) > Limit {
		return nil, fmt.Errorf("more than %d MiB", Limit>>20)
	}
	first, rest, _ := strings.Cut(string(data), "\n")
	c := &CalibrationCache{Header: strings.TrimSuffix(first, "\r")}
	seen := map[string]int{}
	for number := 2; rest != ""; number++ {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if line = strings.TrimSuffix(line, "\r"); line == "" {
			continue
		}
		s, err := parseScale(line)
		if err == nil && seen[s.Tensor] > 0 {
			err = fmt.Errorf("tensor %s stands in line %d, too", quoted(s.Tensor), seen[s.Tensor])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		seen[s.Tensor] = number
		c.Scales = append(c.Scales, s)
	}
	if len(c.Scales) == 0 {
		return nil, errors.New("it has no tensors")
	}
	return c, nil
}

// parseScale reads a line. Names may hold colons: the last one ends them.
func parseScale(line string) (TensorScale, error) {
	at := strings.LastIndex(line, ": ")
	if at < 1 {
		return TensorScale{}, fmt.Errorf("%s: want a tensor's name, a colon, a space and 8 hexadecimal digits", quoted(line))
	}
	name, digits := line[:at], line[at+2:]
	bits, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) > 8 {
		return TensorScale{}, fmt.Errorf("tensor %s: %s are not 8 hexadecimal digits", quoted(name), quoted(digits))
	}
	scale := math.Float32frombits(uint32(bits))
	if !(scale >= 0 && scale <= math.MaxFloat32) {
		return TensorScale{}, fmt.Errorf("tensor %s: %s is %g, which is no scale", quoted(name), digits, scale)
	}
	return TensorScale{name, scale}, nil
}

// Bytes returns the file, as TensorRT writes it.
func (c *CalibrationCache) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString(c.Header + "\n")
	for _, s := range c.Scales {
		fmt.Fprintf(&b, "%s: %08x\n", s.Tensor, math.Float32bits(s.Scale))
	}
	return b.Bytes()
}

// Algorithm returns the calibrator that the header names, "" where it names none.
func (c *CalibrationCache) Algorithm() string {
	_, name, _ := strings.Cut(strings.TrimPrefix(c.Header, cachePrefix), "-")
	return name
}

// Scales that activations hardly ever have: those of files whose bytes are in the wrong order are far beyond.
const (
	leastScale   = 1e-8
	largestScale = 1e5
)

// Doubts says what of the cache other readers trip over, and what looks wrong.
func (c *CalibrationCache) Doubts() (list []string) {
	odd, zeros, colons := 0, 0, 0
	var first TensorScale
	for _, s := range c.Scales {
		if s.Scale == 0 {
			zeros++
		} else if s.Scale < leastScale || s.Scale > largestScale {
			if odd++; odd == 1 {
				first = s
			}
		}
		if strings.Contains(s.Tensor, ":") {
			colons++
		}
	}
	if odd > 0 {
		list = append(list, fmt.Sprintf("%d of %d scales are implausible, that of tensor %s is %g: bytes in the wrong order, or no scales", odd, len(c.Scales), quoted(first.Tensor), first.Scale))
	}
	if zeros > 0 {
		list = append(list, fmt.Sprintf("%d of %d scales are zero, which gives no range", zeros, len(c.Scales)))
	}
	if colons > 0 {
		list = append(list, fmt.Sprintf("%d names have a colon, at which ONNX Runtime ends them", colons))
	}
	return list
}

// NewCalibrationCache makes a cache of what a snapshot's active calibrator finds, whose ranges must be symmetric, as TensorRT's are.
// A tensor without a range is left out.
func NewCalibrationCache(header string, snap *report.Snapshot) (*CalibrationCache, error) {
	if snap.Config.Quantization.Scheme().Asymmetric {
		return nil, errors.New("ranges of TensorRT are symmetric around zero, and the activations are quantised asymmetrically")
	}
	c, r := &CalibrationCache{Header: header}, snap.Calibration
	active := slices.Index(r.Calibrators, r.Active)
	for _, t := range r.Tensors {
		if active < 0 || active >= len(t.By) {
			return nil, fmt.Errorf("tensor %s: the calibrator %s has no result", quoted(t.Tensor), quoted(r.Active))
		}
		if strings.ContainsAny(t.Tensor, "\r\n") {
			return nil, fmt.Errorf("tensor %s: a calibration cache has a line for each name, and this one has several", quoted(t.Tensor))
		}
		if scale := t.By[active].Scale; scale > 0 && scale <= math.MaxFloat32 {
			c.Scales = append(c.Scales, TensorScale{t.Tensor, scale})
		}
	}
	if len(c.Scales) == 0 {
		return nil, errors.New("no tensor has a range")
	}
	return c, nil
}
