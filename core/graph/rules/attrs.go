package rules

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/graph"
)

// allAttrs is the attribute that stands for all of a layer's.
const allAttrs = "attrs"

var networkType = reflect.TypeFor[*graph.Network]()

// attrFields calls f for the attributes of an op: the fields of its struct, as a network's text names them.
func attrFields(attrs any, f func(name string, i int)) {
	t := reflect.TypeOf(attrs)
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		name := t.Field(i).Name
		f(strings.ToLower(name[:1])+name[1:], i)
	}
}

func hasBodies(op *graph.Op) (found bool) {
	attrFields(op.Attrs, func(_ string, i int) {
		found = found || reflect.TypeOf(op.Attrs).Field(i).Type == networkType
	})
	return found
}

func hasAttr(op *graph.Op, name string) (found bool) {
	attrFields(op.Attrs, func(n string, _ int) { found = found || n == name })
	return found
}

func attrNames(op *graph.Op) string {
	var names []string
	attrFields(op.Attrs, func(n string, _ int) { names = append(names, n) })
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// field returns an attribute of a struct of attributes.
func field(attrs reflect.Value, name string) (f reflect.Value) {
	attrFields(attrs.Interface(), func(n string, i int) {
		if n == name {
			f = attrs.Field(i)
		}
	})
	return f
}

// settable returns why an attribute cannot be what a rule says.
func settable(op *graph.Op, a *Attr) error {
	v := reflect.New(reflect.TypeOf(op.Attrs)).Elem()
	return set(field(v, a.Name), a.Name, a.literal())
}

// literal returns a number, a word or a list of numbers.
func (a *Attr) literal() any {
	if a.Lists {
		return a.List
	}
	if v, err := strconv.ParseFloat(a.Text, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v
	}
	return a.Text
}

// set gives a field a number, a word, a list of numbers, or the value of another field.
func set(f reflect.Value, name string, v any) error {
	wrong := fmt.Errorf("%s cannot be %v: it wants %s", name, v, kindName(f.Type()))
	if x := reflect.ValueOf(v); x.IsValid() && x.Type() == f.Type() {
		f.Set(x)
		return nil
	}
	switch v := v.(type) {
	case string:
		return setWord(f, v, wrong)
	case []float64:
		if f.Kind() != reflect.Slice {
			return wrong
		}
		list := reflect.MakeSlice(f.Type(), len(v), len(v))
		for i, e := range v {
			if err := setNumber(list.Index(i), e, wrong); err != nil {
				return err
			}
		}
		f.Set(list)
		return nil
	case float64:
		return setNumber(f, v, wrong)
	}
	return wrong
}

func setNumber(f reflect.Value, v float64, wrong error) error {
	switch k := f.Kind(); {
	case f.CanInt():
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 || f.OverflowInt(int64(v)) {
			return wrong
		}
		f.SetInt(int64(v))
	case k == reflect.Float32 || k == reflect.Float64:
		f.SetFloat(v)
	default:
		return wrong
	}
	return nil
}

// setWord gives a field what prints as a word: true and false, text, or one of a few values with names.
func setWord(f reflect.Value, word string, wrong error) error {
	switch {
	case f.Kind() == reflect.Bool && (word == "true" || word == "false"):
		f.SetBool(word == "true")
		return nil
	case f.Kind() == reflect.String:
		f.SetString(word)
		return nil
	}
	if _, ok := f.Interface().(fmt.Stringer); ok && (f.CanInt() || f.CanUint()) {
		for i := range 256 {
			if f.CanInt() {
				f.SetInt(int64(min(i, 127)))
			} else {
				f.SetUint(uint64(i))
			}
			if text(f) == word {
				return nil
			}
		}
	}
	return wrong
}

// text is what a network's text has for a field.
func text(f reflect.Value) (s string) {
	defer func() {
		if recover() != nil { // a number without a name
			s = ""
		}
	}()
	return f.Interface().(fmt.Stringer).String()
}

func kindName(t reflect.Type) string {
	switch {
	case t.Implements(reflect.TypeFor[fmt.Stringer]()):
		return "a name"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return "a word"
	case t.Kind() == reflect.Int:
		return "an integer"
	}
	return t.String()
}

// attrMiss returns why a layer's attributes are not what a term says; "" if they are. Those that it does not name must be zero, as
// those are that a network's text does not have.
func (m *match) attrMiss(t *Term, l *graph.Layer) string {
	if reflect.TypeOf(l.Attrs) != reflect.TypeOf(t.op.Attrs) {
		return fmt.Sprintf("%s: it has other attributes", l.Name)
	}
	said, rest := map[string]*Attr{}, (*Attr)(nil)
	for i := range t.Attrs {
		if a := &t.Attrs[i]; a.Name == allAttrs {
			rest = a
		} else {
			said[a.Name] = a
		}
	}
	if rest != nil && rest.Var != "" {
		if old, ok := m.vars[allAttrs+rest.Var]; ok && !reflect.DeepEqual(old, l.Attrs) {
			return fmt.Sprintf("%s: its attributes are not those of the other layer", l.Name)
		}
		m.vars[allAttrs+rest.Var] = l.Attrs
	}
	miss := ""
	attrFields(l.Attrs, func(name string, i int) {
		f := reflect.ValueOf(l.Attrs).Field(i)
		a := said[name]
		switch {
		case miss != "" || a != nil && a.Any || a == nil && rest != nil:
		case a == nil && !f.IsZero():
			miss = fmt.Sprintf("%s: %s is %v, which the rule does not name", l.Name, name, f.Interface())
		case a == nil:
		case a.Var != "":
			if old, ok := m.vars[a.Var]; ok && !sameValue(reflect.ValueOf(old), f) {
				miss = fmt.Sprintf("%s: %s is %v, $%s is %v", l.Name, name, f.Interface(), a.Var, old)
			} else if !ok {
				m.vars[a.Var] = f.Interface()
			}
		default:
			want := reflect.New(f.Type()).Elem()
			if err := set(want, name, a.literal()); err != nil || !sameValue(want, f) {
				miss = fmt.Sprintf("%s: %s is %v, the rule has %v", l.Name, name, f.Interface(), a.literal())
			}
		}
	})
	return miss
}

// sameValue reports whether attributes are equal, numbers up to the rounding of float32 and empty lists as none.
func sameValue(a, b reflect.Value) bool {
	x, okA := numberOf(a)
	y, okB := numberOf(b)
	switch {
	case okA && okB:
		return near(x, y, 1e-6)
	case a.Kind() == reflect.Slice && b.Kind() == reflect.Slice && a.Len() == 0 && b.Len() == 0:
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// numberOf returns a plain number; those with names are none.
func numberOf(v reflect.Value) (float64, bool) {
	if _, named := v.Interface().(fmt.Stringer); named {
		return 0, false
	}
	switch {
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

func near(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}
