package images

import (
	"encoding/binary"
	"fmt"
)

// JPEG is decoded here, and not by image/jpeg, since the bytes that a model is trained on are those of libjpeg-turbo: its inverse
// transform in integers, its colours between samples, and its conversion of colours. Go's differ in one pixel of thirty.

// jpeg is a file that is being decoded.
type jpeg struct {
	data          []byte
	at            int // behind what was read
	rows, columns int
	progressive   bool
	parts         []*component
	h, v          int // the most samples that a component has in a unit along each axis
	unitsX        int // of all components together, which a scan of several has
	unitsY        int
	quant         [4]*[64]uint16 // by frequency in rows
	codes         [2][4]*codes   // for the first coefficient, and for the others
	restart       int            // units between restart markers; 0 for none
	jfif          bool
	adobe         int // how colours are kept, as Adobe's marker says; -1 without one
	scans         int
}

// component is one of the image's, such as its brightness.
type component struct {
	id            byte
	h, v          int // samples of it in a unit
	table         byte
	rows, columns int       // of its samples
	across, down  int       // blocks that its samples are in, and what units have beyond the image
	coefficients  []int16   // 64 of each block, by frequency in rows
	quant         [64]int32 // the table as it was when the component's first scan began
	scanned       bool
	before        int // the first coefficient of the block before
	code          [2]*codes
	samples       []byte // of all blocks, once they are transformed
}

// Markers, which follow a byte of ones.
const (
	markerSOF0 = 0xc0 // baseline; the next ones are extended and progressive
	markerSOF2 = 0xc2
	markerDHT  = 0xc4
	markerRST0 = 0xd0
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerDQT  = 0xdb
	markerDRI  = 0xdd
	markerAPP0 = 0xe0
	markerAPPE = 0xee
)

// Bounds of what a file may ask for: a progressive one of ten scans is usual, and the time that one takes is not bounded by its bytes.
const maxScans = 256

// next returns the marker that follows, and what it has.
func (j *jpeg) next() (marker byte, body []byte, err error) {
	for j.at < len(j.data) && j.data[j.at] != 0xff { // what some writers leave behind a scan
		j.at++
	}
	for j.at < len(j.data) && j.data[j.at] == 0xff {
		j.at++
	}
	if j.at >= len(j.data) {
		return 0, nil, errFormat
	}
	marker = j.data[j.at]
	j.at++
	if marker == 0 || marker == 1 || marker >= markerRST0 && marker <= markerEOI {
		return marker, nil, nil
	}
	if j.at+2 > len(j.data) {
		return 0, nil, errFormat
	}
	n := int(binary.BigEndian.Uint16(j.data[j.at:]))
	if n < 2 || j.at+n > len(j.data) {
		return 0, nil, errFormat
	}
	body = j.data[j.at+2 : j.at+n]
	j.at += n
	return marker, body, nil
}

// head reads up to the frame, where the extents are.
func (j *jpeg) head() error {
	j.adobe = -1
	for {
		marker, body, err := j.next()
		switch {
		case err != nil:
			return err
		case marker == markerEOI || marker == markerSOS:
			return errFormat
		case marker >= markerSOF0 && marker <= markerSOF2:
			j.progressive = marker == markerSOF2
			return j.frame(body)
		case marker > markerSOF2 && marker <= 0xcf && marker != markerDHT && marker != 0xc8 && marker != 0xcc:
			return &Unsupported{fmt.Sprintf("JPEG of kind %d (lossless, hierarchical or of arithmetic codes)", marker-markerSOF0)}
		}
		if err := j.table(marker, body); err != nil {
			return err
		}
	}
}

// frame reads what the image is.
func (j *jpeg) frame(b []byte) error {
	if len(b) < 6 || len(b) != 6+3*int(b[5]) {
		return errFormat
	}
	if b[0] != 8 {
		return &Unsupported{fmt.Sprintf("JPEG with %d bits a sample", b[0])}
	}
	j.rows, j.columns = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	if n := b[5]; n != 1 && n != 3 && n != 4 {
		return &Unsupported{fmt.Sprintf("JPEG with %d components", n)}
	}
	for b = b[6:]; len(b) > 0; b = b[3:] {
		c := &component{id: b[0], h: int(b[1] >> 4), v: int(b[1] & 15), table: b[2]}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.table > 3 || j.component(c.id) != nil {
			return errFormat
		}
		j.parts = append(j.parts, c)
		j.h, j.v = max(j.h, c.h), max(j.v, c.v)
	}
	for _, c := range j.parts {
		if j.h%c.h != 0 || j.v%c.v != 0 {
			return &Unsupported{"JPEG of which a component has no whole part of another's samples"}
		}
	}
	return nil
}

func (j *jpeg) component(id byte) *component {
	for _, c := range j.parts {
		if c.id == id {
			return c
		}
	}
	return nil
}

// table reads a marker's tables, or leaves it out.
func (j *jpeg) table(marker byte, b []byte) error {
	switch marker {
	case markerDQT:
		return j.quantisation(b)
	case markerDHT:
		return j.huffman(b)
	case markerDRI:
		if len(b) != 2 {
			return errFormat
		}
		j.restart = int(binary.BigEndian.Uint16(b))
	case markerAPP0:
		j.jfif = j.jfif || len(b) >= 5 && string(b[:5]) == "JFIF\x00"
	case markerAPPE:
		if len(b) >= 12 && string(b[:5]) == "Adobe" {
			j.adobe = int(b[11])
		}
	}
	return nil
}

func (j *jpeg) quantisation(b []byte) error {
	for len(b) > 0 {
		wide, to := int(b[0]>>4), b[0]&15
		if b = b[1:]; wide > 1 || to > 3 || len(b) < 64*(1+wide) {
			return errFormat
		}
		q := new([64]uint16)
		for i, at := range zigzag {
			if wide == 1 {
				q[at] = binary.BigEndian.Uint16(b[2*i:])
			} else {
				q[at] = uint16(b[i])
			}
		}
		j.quant[to], b = q, b[64*(1+wide):]
	}
	return nil
}

// zigzag is where in rows of frequencies each coefficient is in turn.
var zigzag = zigzagOrder()

func zigzagOrder() (order [64]int) {
	i := 0
	for sum := range 15 {
		for k := range sum + 1 {
			row, column := k, sum-k
			if sum%2 == 0 {
				row, column = column, row
			}
			if row < 8 && column < 8 {
				order[i] = 8*row + column
				i++
			}
		}
	}
	return order
}

func jpegExtent(data []byte) (columns, rows int, err error) {
	j := jpeg{data: data, at: 2}
	err = j.head()
	return j.columns, j.rows, err
}

func decodeJPEG(data []byte) (Image, error) {
	j := jpeg{data: data, at: 2}
	if err := j.head(); err != nil {
		return Image{}, err
	}
	j.lay()
	for {
		marker, body, err := j.next()
		switch {
		case err != nil:
			return Image{}, err
		case marker == markerEOI:
			return j.image()
		case marker == markerSOS:
			if j.scans++; j.scans > maxScans {
				return Image{}, errFormat
			}
			err = j.scan(body)
		case marker >= markerSOF0 && marker <= 0xcf && marker != markerDHT:
			err = errFormat // another frame
		default:
			err = j.table(marker, body)
		}
		if err != nil {
			return Image{}, err
		}
	}
}

// lay takes the memory of all blocks.
func (j *jpeg) lay() {
	up := func(n, by int) int { return (n + by - 1) / by }
	if len(j.parts) == 1 { // of which a unit is a block, whatever it says
		j.parts[0].h, j.parts[0].v, j.h, j.v = 1, 1, 1, 1
	}
	j.unitsX, j.unitsY = up(j.columns, 8*j.h), up(j.rows, 8*j.v)
	for _, c := range j.parts {
		c.rows, c.columns = up(j.rows*c.v, j.v), up(j.columns*c.h, j.h)
		c.across, c.down = j.unitsX*c.h, j.unitsY*c.v
		c.coefficients = make([]int16, 64*c.across*c.down)
	}
}
