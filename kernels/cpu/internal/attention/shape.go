package attention

// Strides are the elements between the batches, heads and rows of an operand.
type Strides struct{ Batch, Head, Row int }

// Mask is how a mask lies that is added to scores, or that says what is seen. A stride of 0 is of an axis that it broadcasts.
type Mask struct {
	Strides
	Column int  // elements between keys: 1, or 0 where all have the same
	Keys   int  // how many keys it speaks of; those behind are not seen
	Bool   bool // bytes: what is not 0 is seen
}

// Shape is the geometry of an attention.
type Shape struct {
	Batch           int
	Heads, KVHeads  int // of queries, and of keys and values
	Queries         int
	Keys, Past      int // all keys of a head; those of them that come from the past, first
	Size, ValueSize int // of a head of queries and keys, and of values
	Scale, Softcap  float32
	Reach, Back     int  // query i, at place p, sees the keys before p+Reach and behind p-Back; 0: all
	Counted         bool // each batch has a number of keys of its own; its last query is at the place of the last of them
	Masked          bool
	Sunk            bool // each head of queries has a score beside those of the keys, of no value
	Mask            Mask

	Q, K, V, Y         Strides
	PastK, PastV       Strides
	WriteK, WriteV     bool // past and new keys, or values, are written one behind the other
	PresentK, PresentV Strides
}

// rows is how the queries of a group of heads, which share their keys, lie as matrices: a set for each head or, of one
// query, a single set that has a row for each head.
type rows struct {
	sets, rows int
	q, y, mask [2]int // elements between sets, and between rows
	head       int    // heads between rows
	step       int    // places between rows
	grow       int    // how many more keys each further row sees
}

func (s *Shape) group() int { return s.Heads / s.KVHeads }

func (s *Shape) rowsOf() rows {
	if s.Queries == 1 {
		return rows{sets: 1, rows: s.group(), q: [2]int{0, s.Q.Head}, y: [2]int{0, s.Y.Head}, mask: [2]int{0, s.Mask.Head}, head: 1}
	}
	r := rows{sets: s.group(), rows: s.Queries, step: 1,
		q: [2]int{s.Q.Head, s.Q.Row}, y: [2]int{s.Y.Head, s.Y.Row}, mask: [2]int{s.Mask.Head, s.Mask.Row}}
	if s.Reach > 0 {
		r.grow = 1
	}
	return r
}

// moving reports whether queries see different keys, whatever the mask says.
func (s *Shape) moving() bool { return s.Reach > 0 || s.Back > 0 }

// seen returns which of so many keys a query at a place sees, the mask aside: from <= to.
func (s *Shape) seen(place, keys int) (from, to int) {
	to = keys
	if s.Reach > 0 {
		to = max(0, min(keys, place+s.Reach))
	}
	if s.Back > 0 {
		from = min(to, max(0, place-s.Back+1))
	}
	return from, to
}

// bounds returns how many keys a batch has, and the place of its first query.
func (s *Shape) bounds(c *Call, batch int) (keys, place int) {
	keys, place = s.Keys, s.Past
	if s.Counted {
		keys = int(max(0, min(c.Counts[batch], int64(s.Keys))))
		place = keys - s.Queries
	}
	if s.Masked {
		keys = min(keys, s.Mask.Keys)
	}
	return keys, place
}

// anySeen reports whether the mask leaves a query any of the keys from..to.
func (s *Shape) anySeen(c *Call, mask, from, to int) bool {
	if !s.Masked {
		return from < to
	}
	for j := from; j < to; j++ {
		at := mask + j*s.Mask.Column
		if s.Mask.Bool && c.Bools[at] != 0 || !s.Mask.Bool && c.Mask[at] != negInf {
			return true
		}
	}
	return false
}

// Call is the operands of one attention.
type Call struct {
	Q, K, V            []float32
	PastK, PastV       []float32
	Mask               []float32
	Bools              []byte
	Counts             []int64
	Sinks              []float32
	Y                  []float32
	PresentK, PresentV []float32
	Workspace          []float32 // as many as Attention.Workspace says
}

// source is where the keys or the values of one head lie: in up to two pieces.
type source struct {
	past, now             []float32
	pastStride, nowStride int
	count                 int // in past
}

// at returns the elements from row j on, their stride, and how many of at most n rows follow.
func (s *source) at(j, n int) (data []float32, stride, rows int) {
	if j < s.count {
		return s.past[j*s.pastStride:], s.pastStride, min(n, s.count-j)
	}
	return s.now[(j-s.count)*s.nowStride:], s.nowStride, n
}

func (t Strides) of(data []float32, batch, head int) []float32 {
	if len(data) == 0 {
		return nil
	}
	return data[batch*t.Batch+head*t.Head:]
}

// sources returns the keys and the values of a head as they are given.
func (s *Shape) sources(c *Call, batch, head int) (k, v source) {
	k = source{s.PastK.of(c.PastK, batch, head), s.K.of(c.K, batch, head), s.PastK.Row, s.K.Row, s.Past}
	v = source{s.PastV.of(c.PastV, batch, head), s.V.of(c.V, batch, head), s.PastV.Row, s.V.Row, s.Past}
	return k, v
}

// written returns them as the outputs have them, where they do.
func (s *Shape) written(c *Call, batch, head int) (k, v source) {
	k, v = s.sources(c, batch, head)
	if s.WriteK {
		k = source{now: s.PresentK.of(c.PresentK, batch, head), nowStride: s.PresentK.Row}
	}
	if s.WriteV {
		v = source{now: s.PresentV.of(c.PresentV, batch, head), nowStride: s.PresentV.Row}
	}
	return k, v
}

// write copies keys and values from..to into the outputs.
func (s *Shape) write(c *Call, batch, head, from, to int) {
	k, v := s.sources(c, batch, head)
	writtenK, writtenV := s.written(c, batch, head)
	if s.WriteK {
		copyRows(&writtenK, &k, from, to, s.Size)
	}
	if s.WriteV {
		copyRows(&writtenV, &v, from, to, s.ValueSize)
	}
}

func copyRows(dst, src *source, from, to, size int) {
	for j := from; j < to; {
		data, stride, n := src.at(j, to-j)
		out := dst.now[j*dst.nowStride:]
		if stride == size && dst.nowStride == size {
			copy(out[:n*size], data)
		} else {
			for r := range n {
				copy(out[r*dst.nowStride:][:size], data[r*stride:])
			}
		}
		j += n
	}
}
