package run_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/trtui/trtui/core/graph"
	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
	"github.com/trtui/trtui/core/run"
	"github.com/trtui/trtui/kernels/cpu"
)

// FuzzReadEngine changes engine files and mends their checksums, so that what lies behind them is reached: a file that
// was made wrong must be refused, or run without touching memory that is not its own.
func FuzzReadEngine(f *testing.F) {
	b := cpu.Open(1)
	n := residual(f)
	p, err := run.NewPlan(context.Background(), n, map[string]int{"batch": 1}, b, run.BestGuess)
	if err != nil {
		f.Fatal(err)
	}
	e := &run.Engine{Source: n, Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}
	var file bytes.Buffer
	if _, err := e.WriteTo(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:100])
	ranged := &run.Engine{Plans: openPlans(f, open(f), b)}
	for _, p := range ranged.Plans {
		ranged.Profiles = append(ranged.Profiles, run.ProfileOf("", p))
	}
	var other bytes.Buffer
	if _, err := ranged.WriteTo(&other); err != nil {
		f.Fatal(err)
	}
	f.Add(other.Bytes())
	f.Add(controlEngine(f, b))
	f.Add([]byte("trtuiEng"))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = mend(bytes.Clone(data))
		e, err := run.ReadEngine(graph.Ops(), data)
		if err != nil {
			return
		}
		for _, p := range e.Plans {
			if p.Memory.Peak > 64<<20 || p.Memory.IO > 64<<20 {
				continue
			}
			l, err := run.Load(context.Background(), p, b)
			if err != nil {
				continue
			}
			c, err := l.NewContext()
			if err != nil {
				continue
			}
			execute := func() {
				ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond) // of loops in loops
				_ = c.ExecuteUntil(ctx)
				cancel()
			}
			execute()
			for _, s := range []map[string][]int{e.Profiles[p.Profile].Min, e.Profiles[p.Profile].Max, shapesOf(2, 3, 19)} {
				if c.SetShapes(s) == nil {
					execute()
				}
			}
			c.Close()
			l.Close()
		}
	})
}

// controlEngine is the file of an engine with a Loop, an If and a Scan.
func controlEngine(t testing.TB, b run.Backend) []byte {
	d := graph.Define("control")
	x, flag := d.Input("x", numeric.F32, symbolic.Const(3), symbolic.Const(4)), d.Input("flag", numeric.Bool)
	trips := d.Constant("trips", numeric.Values(numeric.I64, []int64{3}))
	loop := d.Loop(trips, nil, []*graph.Tensor{x}, func(b *graph.Definition, _, _ *graph.Tensor, v []*graph.Tensor) (*graph.Tensor, []*graph.Tensor) {
		y := b.If(flag, func(b *graph.Definition) []*graph.Tensor { return []*graph.Tensor{b.Tanh(v[0])} }, func(b *graph.Definition) []*graph.Tensor { return v })
		return nil, append(y, b.Neg(y[0]))
	})
	scan := d.Scan(nil, loop[:1], graph.ScanAttrs{InAxes: []int{1}, OutAxes: []int{1}}, func(b *graph.Definition, _, e []*graph.Tensor) []*graph.Tensor {
		return []*graph.Tensor{b.Exp(e[0])}
	})
	d.Output("y", scan[0])
	d.Output("z", loop[1])
	n, err := d.Network()
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.NewPlan(context.Background(), n, nil, b, run.BestGuess)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := (&run.Engine{Source: n, Profiles: []run.Profile{{Name: "default"}}, Plans: []*run.Plan{p}}).WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// mend makes the checksums of an engine file fit its bytes, as far as its table makes sense.
func mend(data []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	if len(data) < 64 {
		return data
	}
	count := int(binary.LittleEndian.Uint32(data[12:]))
	if count > 16 || len(data) < 64+24*count {
		return data
	}
	for i := range count {
		entry := data[64+24*i:]
		at, n := binary.LittleEndian.Uint64(entry[8:]), binary.LittleEndian.Uint64(entry[16:])
		if at > uint64(len(data)) || n > uint64(len(data))-at {
			return data
		}
		binary.LittleEndian.PutUint32(entry[4:], crc32.Checksum(data[at:at+n], table))
	}
	clear(data[16:20])
	binary.LittleEndian.PutUint32(data[16:], crc32.Checksum(data[:64+24*count], table))
	return data
}
