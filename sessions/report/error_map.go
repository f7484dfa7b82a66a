package report

// ErrorMap tells where in a tensor an error sits: over its channels, which are those of its weights and of outliers, and its positions (all other
// axes), items of the batch taken together. A cell is of several channels and positions where the tensor has
// more than the map.
type ErrorMap struct {
	Channels, Positions int
	Rows, Columns       int       // of cells: channels down, positions across
	RMS                 []float32 // root mean square of the difference in each cell, row by row
	Group               int       // channels an entry of SQNR has: more than one in very wide tensors
	SQNR                []float64 `unit:"db" output:"channel_sqnr" exact:"channel_exact"` // by channel
}

// Worst returns the map's cell with the largest error, as the first and last channel and position of it.
func (m *ErrorMap) Worst() (firstChannel, lastChannel, firstPosition, lastPosition int) {
	at := 0
	for i, v := range m.RMS {
		if v > m.RMS[at] {
			at = i
		}
	}
	if len(m.RMS) == 0 || m.Rows <= 0 || m.Columns <= 0 {
		return 0, 0, 0, 0
	}
	span := func(i, of, n int) (first, last int) { return (i*n + of - 1) / of, ((i+1)*n+of-1)/of - 1 }
	firstChannel, lastChannel = span(at/m.Columns, m.Rows, m.Channels)
	firstPosition, lastPosition = span(at%m.Columns, m.Columns, m.Positions)
	return firstChannel, lastChannel, firstPosition, lastPosition
}
