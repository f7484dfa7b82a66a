package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// ProfileRow is the time of a layer, as trtexec --exportProfile writes it.
type ProfileRow struct {
	Name             string
	Mean, Median     time.Duration // Median is Mean where the file has none
	Percentage, Runs float64
	Samples          []time.Duration // empty where only the above is known
	own              bool            // it was written here
}

// ParseProfile reads a profile: a list whose first element counts the inferences, and the others are layers in order.
func ParseProfile(data []byte) ([]ProfileRow, error) {
	var list []json.RawMessage
	if err := unmarshal(data, &list); err != nil {
		return nil, err
	}
	runs, own := 0.0, false
	var rows []ProfileRow
	for i, raw := range list {
		var r struct {
			Count                         *float64
			Name                          string
			TimeMs, AverageMs, Percentage float64
			MedianMs                      *float64
			Generator                     any
		}
		if err := unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		if i == 0 && r.Count != nil && r.Name == "" {
			runs, own = *r.Count, r.Generator == generator
			continue
		}
		if r.Name == "" {
			return nil, fmt.Errorf("row %d: it has no name", i)
		}
		mean, err := milliseconds(r.AverageMs)
		if err != nil {
			return nil, fmt.Errorf("row %d, %s: averageMs: %w", i, quoted(r.Name), err)
		}
		row := ProfileRow{Name: r.Name, Mean: mean, Median: mean, Percentage: r.Percentage, Runs: runs, own: own}
		if r.MedianMs != nil {
			if row.Median, err = milliseconds(*r.MedianMs); err != nil {
				return nil, fmt.Errorf("row %d, %s: medianMs: %w", i, quoted(r.Name), err)
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, errors.New("it has no layers")
	}
	return rows, nil
}

// milliseconds returns a time of another tool's file.
func milliseconds(ms float64) (time.Duration, error) {
	if !(ms >= 0 && ms < 1e12) || math.IsInf(ms, 0) {
		return 0, fmt.Errorf("%g is no time in milliseconds", ms)
	}
	return time.Duration(math.Round(ms * 1e6)), nil
}

// QueryTime is one inference, as trtexec --exportTimes writes it.
type QueryTime struct {
	Start, End                           time.Duration // of enqueueing the first copy, of the end of the last
	Enqueue, H2D, Compute, D2H, Duration time.Duration
}

// ParseTimes reads the times of inferences. The names of older releases are taken, too.
func ParseTimes(data []byte) ([]QueryTime, error) {
	var list []map[string]float64
	if err := unmarshal(data, &list); err != nil {
		return nil, err
	}
	var rows []QueryTime
	for i, fields := range list {
		var q QueryTime
		for _, f := range []struct {
			to    *time.Duration
			names []string
			must  bool
		}{
			{&q.Duration, []string{"latencyMs"}, true}, {&q.Compute, []string{"computeMs"}, true},
			{&q.H2D, []string{"h2dMs", "inMs"}, false}, {&q.D2H, []string{"d2hMs", "outMs"}, false},
			{&q.Start, []string{"startH2dMs", "startInMs"}, false}, {&q.End, []string{"endD2hMs", "endOutMs"}, false},
		} {
			if err := takeTime(f.to, fields, f.names, f.must); err != nil {
				return nil, fmt.Errorf("query %d: %w", i, err)
			}
		}
		if d := fields["endEnqMs"] - fields["startEnqMs"]; d > 0 && d < 1e12 {
			q.Enqueue, _ = milliseconds(d)
		}
		rows = append(rows, q)
	}
	if len(rows) == 0 {
		return nil, errors.New("it has no queries")
	}
	return rows, nil
}

// takeTime reads a time that has one of several names.
func takeTime(to *time.Duration, fields map[string]float64, names []string, must bool) (err error) {
	for _, name := range names {
		if ms, ok := fields[name]; ok {
			if *to, err = milliseconds(ms); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return err
		}
	}
	if must {
		return fmt.Errorf("it has no %s", names[0])
	}
	return nil
}
