package stages

import (
	"context"
	"reflect"
	"testing"

	"github.com/trtui/trtui/sessions/config"
)

// TestOrdersAreKeys: whatever an order says is part of the key of what is made for it.
func TestOrdersAreKeys(t *testing.T) {
	for _, order := range []any{&rewriting{}, &collecting{}, &ranging{}, &lowering{}, &planning{}, &referring{}, &examining{}, &surveying{}} {
		o := reflect.ValueOf(order).Elem()
		alter(t, o.Type().Name(), o, func() string { return key(o.Interface()) })
	}
}

// alter gives every field of an order, and of those within it, another value, and checks that the key is another one.
func alter(t *testing.T, path string, v reflect.Value, key func() string) {
	before := key()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := path + "." + v.Type().Field(i).Name
			if !v.Field(i).CanSet() {
				t.Errorf("%s is not exported, and so not in the key", name)
				continue
			}
			alter(t, name, v.Field(i), key)
		}
		return
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		alter(t, path, v.Elem(), key)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
	default:
		t.Errorf("%s is a %v, which this test does not know", path, v.Kind())
	}
	if key() == before {
		t.Errorf("%s is not in the key", path)
	}
}

// TestStageKeeps: a stage makes a result once for each order, and what was made is found, replaced and forgotten by it.
func TestStageKeeps(t *testing.T) {
	made := 0
	s := newStage(func(_ context.Context, in lowering) (config.Precision, error) {
		made++
		return in.Precision, nil
	})
	order := lowering{Precision: config.INT8, Layers: []string{"head:fp32"}}
	for range 2 {
		if p, err := s.Of(t.Context(), order); p != config.INT8 || err != nil {
			t.Fatalf("%v, %v", p, err)
		}
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	s.replace(order, config.FP16)
	if p, ok := s.known(order); p != config.FP16 || !ok {
		t.Errorf("%v, %v after being replaced", p, ok)
	}
	s.forget(order)
	if _, ok := s.known(order); ok {
		t.Error("known after being forgotten")
	}
}
