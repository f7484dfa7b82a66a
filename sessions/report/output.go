package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// MaxDB stands for equality in ratios of signal to noise; -MaxDB stands for nothing left, or for what is not finite. They are
// those of core/quant.
const MaxDB = 200

// OutputSchema is the version of what [MarshalOutput] writes. It grows when a field changes its name or its meaning or
// goes away; docs/json.md lists what changed.
const OutputSchema = 7

// MarshalOutput returns the JSON form in which the commands print reports, for scripts: one object that has the members of
// all of them, the first of which is a [Head] where the document is about a model. Unlike the stored form, which
// is read back and has the fields as they are, it can be read without this source (docs/json.md):
//
//   - Names are in snake case and end in their unit: "peak_bytes", "sqnr_db". The unit is the field's tag unit, and
//     milliseconds for every time.Duration; the tag output gives another name, and "-" leaves the field out.
//   - Times are milliseconds with a fraction, whatever is not a number is null, and a list without elements is [].
//   - Decibels that stand for equality, [MaxDB], or for nothing left, -MaxDB, are null. The tag exact names a
//     member beside them that says whether they stand for equality; beside a list it has the indices of those that do.
//   - The fields of an embedded struct are the outer one's.
//   - A map, whose keys are names of layers or tensors, is a list of objects; the tag entry names key and value.
//
// The object begins with "schema": OutputSchema. That two members have one name is an error.
func MarshalOutput(reports ...any) ([]byte, error) {
	e := outputEncoder{top: map[string]bool{}}
	e.WriteByte('{')
	e.member("schema")
	fmt.Fprint(&e, OutputSchema)
	for _, report := range reports {
		v := reflect.Indirect(reflect.ValueOf(report))
		if v.Kind() != reflect.Struct {
			return nil, fmt.Errorf("output: %T is not a report", report)
		}
		if err := e.fields(v, 0); err != nil {
			return nil, err
		}
	}
	e.WriteByte('}')
	return e.Bytes(), nil
}

// outputEncoder writes the output form of values.
type outputEncoder struct {
	bytes.Buffer
	top map[string]bool // names of the outermost object's members
}

// outputValue is what stands for a value in the output.
type outputValue interface{ output() any }

var durationType = reflect.TypeFor[time.Duration]()

// member writes a name, after a comma unless it is an object's first.
func (e *outputEncoder) member(name string) {
	if b := e.Bytes(); b[len(b)-1] != '{' {
		e.WriteByte(',')
	}
	e.string(name)
	e.WriteByte(':')
}

func (e *outputEncoder) string(s string) {
	b, _ := json.Marshal(s) // a string has a JSON form
	e.Write(b)
}

// fields writes the members of a struct without its braces; depth counts the objects around its own.
func (e *outputEncoder) fields(v reflect.Value, depth int) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			if err := e.fields(v.Field(i), depth); err != nil {
				return err
			}
			continue
		}
		name := outputName(f)
		if name == "" || omitted(f, v.Field(i)) {
			continue
		}
		if depth == 0 {
			if e.top[name] {
				return fmt.Errorf("output: there are two members %q", name)
			}
			e.top[name] = true
		}
		e.member(name)
		value := v.Field(i)
		if f.Tag.Get("unit") == "db" {
			value = reflect.ValueOf(finiteRatios(value))
		}
		if err := e.value(value, f.Tag.Get("entry")); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if flag := f.Tag.Get("exact"); flag != "" {
			e.member(flag)
			if err := e.value(reflect.ValueOf(exactRatios(v.Field(i))), ""); err != nil {
				return fmt.Errorf("%s: %w", flag, err)
			}
		}
	}
	return nil
}

// omitted reports whether a field is left out for being empty, as its stored form is.
func omitted(f reflect.StructField, v reflect.Value) bool {
	options := strings.Split(f.Tag.Get("json"), ",")[1:]
	switch {
	case slices.Contains(options, "omitempty") && (v.Kind() == reflect.Slice || v.Kind() == reflect.Map):
		return v.Len() == 0
	case slices.Contains(options, "omitempty"), slices.Contains(options, "omitzero"):
		return v.IsZero()
	}
	return false
}

// value writes a value; entry is the tag of the field that it is in.
func (e *outputEncoder) value(v reflect.Value, entry string) error {
	if v.Type() == durationType {
		return e.float(float64(v.Int())/1e6, 64)
	}
	if o, ok := v.Interface().(outputValue); ok {
		return e.value(reflect.ValueOf(o.output()), entry)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			e.WriteString("null")
			return nil
		}
		return e.value(v.Elem(), entry)
	case reflect.Struct:
		if _, ok := v.Interface().(json.Marshaler); ok { // time.Time
			break
		}
		e.WriteByte('{')
		err := e.fields(v, 1)
		e.WriteByte('}')
		return err
	case reflect.Slice, reflect.Array:
		e.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				e.WriteByte(',')
			}
			if err := e.value(v.Index(i), entry); err != nil {
				return err
			}
		}
		e.WriteByte(']')
		return nil
	case reflect.Map:
		return e.entries(v, entry)
	case reflect.Float32:
		return e.float(v.Float(), 32)
	case reflect.Float64:
		return e.float(v.Float(), 64)
	}
	b, err := json.Marshal(v.Interface())
	e.Write(b)
	return err
}

func (e *outputEncoder) float(f float64, bits int) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.WriteString("null")
		return nil
	}
	e.Write(strconv.AppendFloat(e.AvailableBuffer(), f, 'g', -1, bits))
	return nil
}

// finiteRatios returns a float64, one that may not be there, or a list of them, without those that stand for no number.
func finiteRatios(v reflect.Value) any {
	finite := func(db float64) *float64 {
		if math.Abs(db) >= MaxDB {
			return nil
		}
		return &db
	}
	switch r := v.Interface().(type) {
	case float64:
		return finite(r)
	case []float64:
		list := make([]*float64, len(r))
		for i, db := range r {
			list[i] = finite(db)
		}
		return list
	case *float64:
		if r != nil {
			return finite(*r)
		}
	}
	return v.Interface()
}

// exactRatios tells which of the values that finiteRatios takes stand for equality: whether one does, or the indices of
// those of a list.
func exactRatios(v reflect.Value) any {
	switch r := v.Interface().(type) {
	case []float64:
		list := []int{}
		for i, db := range r {
			if db >= MaxDB {
				list = append(list, i)
			}
		}
		return list
	case *float64:
		return r != nil && *r >= MaxDB
	case float64:
		return r >= MaxDB
	}
	return false
}

// entries writes a map as a list in the order of its keys.
func (e *outputEncoder) entries(v reflect.Value, entry string) error {
	key, value, ok := strings.Cut(entry, ",")
	if !ok || v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("the map has no names for its keys and values: tag %q", entry)
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	e.WriteByte('[')
	for i, k := range keys {
		if i > 0 {
			e.WriteByte(',')
		}
		e.WriteByte('{')
		e.member(key)
		e.string(k.String())
		e.member(value)
		if err := e.value(v.MapIndex(k), ""); err != nil {
			return err
		}
		e.WriteByte('}')
	}
	e.WriteByte(']')
	return nil
}

// outputName returns a field's name in the output, "" where it is not there.
func outputName(f reflect.StructField) string {
	name := f.Tag.Get("output")
	if name == "-" || !f.IsExported() {
		return ""
	}
	if name == "" {
		name = snakeCase(f.Name)
	}
	unit := f.Tag.Get("unit")
	if unit == "" && holds(f.Type, durationType) {
		unit = "ms"
	}
	if unit != "" {
		name += "_" + unit
	}
	return name
}

// holds reports whether a field of type t holds values of the given type: one, a list of them, or perhaps one.
func holds(t, of reflect.Type) bool {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t == of
}

// snakeCase returns a Go name in snake case: "PeakStep" is "peak_step", "ModelSHA256" is "model_sha256".
func snakeCase(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) {
			begins := i+1 < len(runes) && unicode.IsLower(runes[i+1]) // a word; else it goes on with an acronym
			if before := runes[i-1]; unicode.IsLower(before) || begins {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
