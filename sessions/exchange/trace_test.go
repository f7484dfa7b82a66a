package exchange

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/trtui/trtui/sessions/report"
)

// TestTraceForPerfetto takes a trace apart by the rules of Perfetto's importer of JSON (json_trace_tokenizer.cc, json_trace_parser_impl.cc,
// slice_tracker.cc), and nothing of it is dropped or counted as an error: events in the order of their times, process and thread as
// numbers, names as text, slices of a track one behind the other or one in the other in whole nanoseconds, which older versions truncate
// to and newer ones round to, counters of numbers, names of all tracks.
func TestTraceForPerfetto(t *testing.T) {
	s := exported()
	s.Timings.Inference = &report.InferenceSplit{H2D: 1001, Compute: 3 * time.Millisecond, D2H: 2003}
	s.Timings.Layers, s.Memory.Live = nil, nil
	for i := range 5000 {
		name := fmt.Sprintf("layer %d", i)
		s.Timings.Layers = append(s.Timings.Layers, report.LayerTiming{Name: name, Op: "Conv", Precision: "i8", Latency: report.Latency{Count: 9, Median: time.Duration(i * 37 % 2011)}})
		s.Memory.Live = append(s.Memory.Live, i)
	}
	for k := range 2 { // forks with lanes that take longer one by one than side by side
		fork := report.Fork{InTurn: 5000, Beside: 3001}
		for lane := range 2 {
			l := &s.Timings.Layers[100+2*k+lane]
			l.Fork, l.Lane = k+1, lane+1
			fork.Lanes = append(fork.Lanes, []report.LaneStep{{Step: l.Name, Median: time.Duration(3000 + 3*lane)}})
		}
		s.Timings.Forks = append(s.Timings.Forks, fork)
	}
	data, err := Trace(s)
	if err != nil {
		t.Fatal(err)
	}
	for name, nanos := range map[string]func(float64) int64{
		"rounded":   func(us float64) int64 { return int64(math.Round(us * 1000)) },
		"truncated": func(us float64) int64 { return int64(us * 1000) },
	} {
		got := importTrace(t, data, nanos)
		if got.slices != 5000+3 || got.counters != 5000+1 || got.steps != 4996 {
			t.Errorf("%s: %d slices, %d on the track of steps, %d counters", name, got.slices, got.steps, got.counters)
		}
		if t.Failed() {
			break
		}
	}
}

// imported is what Perfetto has of a trace.
type imported struct{ slices, steps, counters int }

// importTrace imports a trace as Perfetto does.
func importTrace(t *testing.T, data []byte, nanos func(us float64) int64) (got imported) {
	t.Helper()
	var trace struct{ TraceEvents []map[string]any }
	if err := json.Unmarshal(data, &trace); err != nil {
		t.Fatal(err)
	}
	time := func(e map[string]any, key string) int64 {
		us, ok := e[key].(float64)
		if !ok || us < 0 {
			t.Fatalf("%s of %v", key, e)
		}
		return nanos(us)
	}
	id := func(e map[string]any, key string) uint32 {
		v, ok := e[key].(float64)
		if n := uint32(v); !ok || float64(n) != v {
			t.Fatalf("%s of %v", key, e)
		}
		return uint32(v)
	}
	events := slices.Clone(trace.TraceEvents)
	slices.SortStableFunc(events, func(a, b map[string]any) int {
		if a["ph"] == "M" || b["ph"] == "M" {
			return 0
		}
		return int(time(a, "ts") - time(b, "ts"))
	})
	named, open := map[uint32]bool{}, map[uint32][][2]int64{}
	for _, e := range events {
		name, ok := e["name"].(string)
		if !ok || name == "" {
			t.Fatalf("%v has no name", e)
		}
		args, _ := e["args"].(map[string]any)
		switch e["ph"] {
		case "M":
			if text, ok := args["name"].(string); !ok || text == "" || name != "process_name" && name != "thread_name" {
				t.Fatalf("%v names nothing", e)
			}
			if id(e, "pid"); name == "thread_name" {
				named[id(e, "tid")] = true
			}
		case "C":
			if id(e, "pid"); len(args) == 0 {
				t.Fatalf("%v counts nothing", e)
			}
			for _, v := range args {
				if _, ok := v.(float64); !ok {
					t.Fatalf("%v counts by no number", e)
				}
			}
			time(e, "ts")
			got.counters++
		case "X":
			if _, ok := e["cat"].(string); !ok {
				t.Fatalf("%v has no category", e)
			}
			tid, begin := id(e, "tid"), time(e, "ts")
			end := begin + time(e, "dur")
			stack := open[tid]
			for len(stack) > 0 {
				last := stack[len(stack)-1]
				if last[1] > begin || last[1] == begin && last[0] == last[1] && end == begin {
					break
				}
				stack = stack[:len(stack)-1]
			}
			if n := len(stack); n > 0 && begin < stack[n-1][1] && end > stack[n-1][1] {
				t.Errorf("%s, %d to %d ns of track %d, is dropped: it overlaps %v", name, begin, end, tid, stack[n-1])
				return got
			}
			if open[tid] = append(stack, [2]int64{begin, end}); !named[tid] {
				t.Fatalf("track %d has no name", tid)
			}
			if got.slices++; tid == 1 {
				got.steps++
			}
		default:
			t.Fatalf("%v is of no phase that is written", e)
		}
	}
	return got
}
