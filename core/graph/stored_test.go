package graph

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/trtui/trtui/core/graph/elementwise"
	"github.com/trtui/trtui/core/graph/numeric"
)

// TestStoredFloats: every op's attributes, whatever their floats, are read back as they were.
func TestStoredFloats(t *testing.T) {
	special := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 0.1, math.MaxFloat32}
	for _, op := range Ops().All() {
		if op.Attrs == nil {
			continue
		}
		for _, f := range special {
			v := reflect.New(reflect.TypeOf(op.Attrs)).Elem()
			fillFloats(v, f)
			raw, err := MarshalStored(v.Interface())
			if err != nil {
				t.Errorf("%s with %v: %v", op.Name, f, err)
				continue
			}
			got, err := op.decodeAttrs(raw)
			if err != nil || fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", v.Interface()) { // NaN is not equal to itself
				t.Errorf("%s with %v: %#v, %v, from %s", op.Name, f, got, err, raw)
			}
		}
	}
}

// fillFloats sets every float of v, with slices of two, and a program of one instruction.
func fillFloats(v reflect.Value, f float64) {
	if p, ok := v.Addr().Interface().(*elementwise.Program); ok {
		*p = elementwise.Unary(elementwise.Clamp, float32(f), float32(f))
		return
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		v.SetFloat(f)
	case reflect.Struct:
		for i := range v.NumField() {
			fillFloats(v.Field(i), f)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fillFloats(v.Index(i), f)
		}
	}
}

// TestStoredNetwork: so are epilogues and ranges, and the stored form of what is finite is that of encoding/json.
func TestStoredNetwork(t *testing.T) {
	for _, f := range []float32{float32(math.Inf(1)), float32(math.NaN()), 6} {
		n := convNet(t)
		n.Layer("conv").Fuse(elementwise.Unary(elementwise.Clamp, -f, f), 0)
		n.Layer("conv").Outputs[0].Range = numeric.PerTensor(f, 3)
		data, err := n.Encode(func([]byte) int { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		var s storedNetwork
		if err := UnmarshalStored(data, &s); err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, l := range s.Layers {
			if l.Epilogue != nil && fmt.Sprint(*l.Epilogue) == fmt.Sprint(n.Layer("conv").Epilogue) {
				found++
			}
		}
		for _, r := range s.Tensors {
			if r.Range != nil && fmt.Sprint(*r.Range) == fmt.Sprint(numeric.PerTensor(f, 3)) {
				found++
			}
		}
		if found != 2 {
			t.Errorf("%v is not in\n%s", f, data)
		}
	}
	raw, err := MarshalStored(numeric.Range{Scale: []float32{0.1, 1e-9}})
	if want := `{"Scale":[0.1,1e-9],"Zero":null,"Axis":0}`; err != nil || string(raw) != want {
		t.Errorf("%s, %v, want %s", raw, err, want)
	}
}
