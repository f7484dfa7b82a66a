package diff

import (
	"errors"
	"fmt"
	"slices"

	"github.com/trtui/trtui/sessions/report"
)

// Matrix sets things side by side: each beside the first as [Of] does, all their layers, and which are worth having. All need times of
// layers.
func Matrix(sides []Side) (*report.Matrix, error) {
	if len(sides) < 2 {
		return nil, errors.New("a matrix is of two sides at least")
	}
	sides = slices.Clone(sides)
	named(sides)
	m := &report.Matrix{Notes: notesOnData(sides...)}
	columns, times, apart := make([]report.Column, len(sides)), make([]*report.Timings, len(sides)), false
	points := make([]report.ParetoPoint, len(sides))
	for i, s := range sides {
		d, err := Of(sides[0], s)
		if err != nil {
			return nil, err
		}
		one := report.MatrixSide{DiffSide: side(s)}
		if i > 0 {
			one.Speed = &d.EndToEnd.Speed
			apart = apart || s.Rival != sides[0].Snapshot
			for _, n := range d.Notes[len(notesOnData(sides[0], s)):] {
				m.Notes = append(m.Notes, s.Name+" beside "+sides[0].Name+": "+n)
			}
		}
		m.Sides = append(m.Sides, one)
		columns[i] = report.Column{Label: s.Name, Config: s.Snapshot.Config, Speed: one.Speed, Point: &one.Point}
		times[i] = s.Snapshot.Timings
		points[i] = report.ParetoPoint{Name: s.Name, Point: one.Point, Session: sessionOf(s, i)}
	}
	m.Columns = Across(columns, times, apart)
	measure, err := MeasureOf("", points)
	if err != nil {
		return nil, err
	}
	limit := 0.0
	if len(measure.Limits) > 0 {
		limit = measure.Limits[measure.First]
	}
	m.Pareto = Choose(points, measure, limit, quantized(sides[0].Snapshot))
	for i := range m.Sides {
		m.Sides[i].Front = m.Pareto.Points[i].Front
	}
	return m, nil
}

// named makes names differ: rows and columns are told apart by them.
func named(sides []Side) {
	for i := range sides {
		name := sides[i].Name
		for n := 2; slices.ContainsFunc(sides[:i], func(s Side) bool { return s.Name == sides[i].Name }); n++ {
			sides[i].Name = fmt.Sprintf("%s (%d)", name, n)
		}
	}
}

// sessionOf names what a side was measured in: its rounds say nothing of those of another one.
func sessionOf(s Side, i int) string {
	switch {
	case s.Snapshot.Replay != "":
		return s.Snapshot.Replay
	case s.Rival != nil || i == 0:
		return ""
	}
	return fmt.Sprint(i)
}
