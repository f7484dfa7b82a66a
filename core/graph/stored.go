package graph

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// MarshalStored returns v's JSON as encoding/json writes it, but for what JSON has no numbers for: infinities and NaN become
// "Inf", "-Inf" and "NaN". v must be made of exported fields.
func MarshalStored(v any) ([]byte, error) {
	from := reflect.ValueOf(v)
	t := storedType(from.Type())
	if t == from.Type() {
		return json.Marshal(v)
	}
	to := reflect.New(t).Elem()
	copyStored(to, from)
	return json.Marshal(to.Interface())
}

// UnmarshalStored reads into *v what MarshalStored wrote.
func UnmarshalStored(data []byte, v any) error {
	to := reflect.ValueOf(v).Elem()
	t := storedType(to.Type())
	if t == to.Type() {
		return json.Unmarshal(data, v)
	}
	from := reflect.New(t)
	if err := json.Unmarshal(data, from.Interface()); err != nil {
		return err
	}
	copyStored(to, from.Elem())
	return nil
}

// storedFloat32 and storedFloat64 are floats with a JSON form for every value.
type (
	storedFloat32 float32
	storedFloat64 float64
)

func (f storedFloat32) MarshalJSON() ([]byte, error) { return storeFloat(float64(f), float32(f)) }

func (f storedFloat64) MarshalJSON() ([]byte, error) { return storeFloat(float64(f), float64(f)) }

func (f *storedFloat32) UnmarshalJSON(b []byte) error { return readFloat(b, (*float32)(f)) }

func (f *storedFloat64) UnmarshalJSON(b []byte) error { return readFloat(b, (*float64)(f)) }

func storeFloat(f float64, number any) ([]byte, error) {
	switch {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 0):
		return []byte(`"` + strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+") + `"`), nil
	}
	return json.Marshal(number)
}

func readFloat[T float32 | float64](b []byte, f *T) error {
	switch string(b) {
	case `"NaN"`:
		*f = T(math.NaN())
	case `"Inf"`:
		*f = T(math.Inf(1))
	case `"-Inf"`:
		*f = T(math.Inf(-1))
	default:
		if err := json.Unmarshal(b, f); err != nil {
			return fmt.Errorf("%s is no number: %w", b, err)
		}
	}
	return nil
}

var (
	storedFloats = map[reflect.Kind]reflect.Type{
		reflect.Float32: reflect.TypeFor[storedFloat32](), reflect.Float64: reflect.TypeFor[storedFloat64](),
	}
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
)

// storedType returns t with stored floats for its floats; t itself where it has none, or writes its JSON itself.
func storedType(t reflect.Type) reflect.Type {
	if t.Implements(jsonMarshaler) || reflect.PointerTo(t).Implements(jsonMarshaler) {
		return t
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		return storedFloats[t.Kind()]
	case reflect.Struct:
		fields, changed := make([]reflect.StructField, t.NumField()), false
		for i := range fields {
			f := t.Field(i)
			fields[i] = reflect.StructField{Name: f.Name, PkgPath: f.PkgPath, Type: f.Type, Tag: f.Tag}
			if f.Tag.Get("json") != "-" { // what is not written may be of any type
				fields[i].Type = storedType(f.Type)
			}
			changed = changed || fields[i].Type != f.Type
		}
		if changed {
			return reflect.StructOf(fields)
		}
		return t
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map:
		e := storedType(t.Elem())
		switch {
		case e == t.Elem():
			return t
		case t.Kind() == reflect.Slice:
			return reflect.SliceOf(e)
		case t.Kind() == reflect.Array:
			return reflect.ArrayOf(t.Len(), e)
		case t.Kind() == reflect.Pointer:
			return reflect.PointerTo(e)
		}
		return reflect.MapOf(t.Key(), e)
	}
	return t
}

// copyStored copies between a type and its stored one.
func copyStored(to, from reflect.Value) {
	if to.Type() == from.Type() {
		to.Set(from)
		return
	}
	switch from.Kind() {
	case reflect.Struct:
		for i := range from.NumField() {
			copyStored(to.Field(i), from.Field(i))
		}
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		fallthrough
	case reflect.Array:
		for i := range from.Len() {
			copyStored(to.Index(i), from.Index(i))
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
			copyStored(to.Elem(), from.Elem())
		}
	case reflect.Map:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeMap(to.Type()))
		for k, v := range from.Seq2() {
			e := reflect.New(to.Type().Elem()).Elem()
			copyStored(e, v)
			to.SetMapIndex(k, e)
		}
	default:
		to.Set(from.Convert(to.Type()))
	}
}
