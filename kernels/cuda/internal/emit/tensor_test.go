package emit

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/kernels/cuda/internal/ptx"
	"github.com/trtui/trtui/kernels/cuda/internal/ptxsim"
)

// TestQuotient divides numbers near halves, where a last bit decides what they are rounded to, and special ones.
func TestQuotient(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, d := range []float32{1, 0.25, 0.1, 0.0314159, 1.0 / 3, 7.7, 123.456, math.Float32frombits(0x3fffffff), 1e-33, 3e31} {
		var xs []float32
		for i := range 2000 {
			half := float32(i-1000)/2*d + float32(0)
			for range 3 {
				xs = append(xs, half)
				half = math.Nextafter32(half, float32(math.Inf(1)))
			}
			xs = append(xs, float32(rnd.NormFloat64())*100*d)
		}
		xs = append(xs, 0, float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.NaN()))
		for i, got := range quotients(t, xs, d) {
			want := xs[i] / d
			switch {
			case want != want:
				if got == got {
					t.Errorf("%v / %v is %v", xs[i], d, got)
				}
			case math.Abs(float64(want)) < 1e-30: // rounds to 0 either way
				if math.Abs(float64(got)) > 1e-30 {
					t.Fatalf("%v / %v is %v, want %v", xs[i], d, got, want)
				}
			case math.Abs(float64(want)) < 1000 && got != want:
				t.Fatalf("%v / %v is %v, want %v", xs[i], d, got, want)
			case math.Abs(float64(want)) >= 1000 && (math.Abs(float64(got)) < 999 || (got > 0) != (want > 0)):
				t.Fatalf("%v / %v is %v, want about %v", xs[i], d, got, want)
			}
		}
	}
}

// quotients divides on the simulator.
func quotients(t *testing.T, xs []float32, d float32) []float32 {
	t.Helper()
	m := ptx.New(ptx.SM80)
	k := m.Kernel("quotients", 32)
	x, y := k.Pointer("x"), k.Pointer("y")
	i := k.Mad(k.BlockX(), ptx.U(32), k.Thread())
	k.Exit(k.Ge(i, ptx.U(len(xs))))
	q, _ := quotient(k, k.LoadF(k.Offset(x, i, 4), 1)[0], d)
	k.StoreF(k.Offset(y, i, 4), q)
	k.End()
	mem := ptxsim.NewMemory(1 << 20)
	data := numeric.Bytes(xs)
	var params []byte
	var at [2]uint64
	for i := range at {
		p, err := mem.Alloc(int64(len(data)))
		if err == nil && i == 0 {
			err = mem.Write(p, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		at[i], params = p, binary.LittleEndian.AppendUint64(params, p)
	}
	program, err := ptxsim.Load(mem, m)
	if err == nil {
		_, err = program.Launch(context.Background(), "quotients", ptxsim.Shape{Grid: [3]int{CeilDiv(len(xs), 32), 1, 1}, Block: [3]int{32, 1, 1}}, params, ptxsim.Options{})
	}
	out := make([]byte, len(data))
	if err == nil {
		err = mem.Read(at[1], out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return numeric.View[float32](out)
}
