package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/trtui/trtui/core/quant"
)

// Setting is one of the choices that a configuration consists of, as a person writes it in a line.
type Setting struct {
	Name  string // as files have it: "layer_precisions"
	Value string // as [Set] takes it; empty: nothing was chosen
	Form  string // how a value is written: "a,b,..."
}

// Settings returns all settings of a configuration, in the order in which files have them.
func Settings(c Config) []Setting {
	var s fields
	if text, err := Marshal(c); err != nil || json.Unmarshal(text, &s) != nil {
		panic("config: settings: a configuration cannot be read again") // every one can
	}
	v := reflect.ValueOf(s)
	var list []Setting
	for i, name := range fieldNames(v.Type()) {
		if name != "version" {
			list = append(list, Setting{name, lineOf(v.Field(i).Interface()), formOf(v.Field(i).Interface())})
		}
	}
	return list
}

// Set returns a configuration with a setting changed, of which value is the text: of one with several items the list of all. What
// begins with { or [ is JSON, as files have it. An error says what is wrong with the value; own are as for [Config.Check].
func Set(c Config, name, value string, own ...quant.Method) (Config, error) {
	var s fields
	v := reflect.ValueOf(&s).Elem()
	i := slices.Index(fieldNames(v.Type()), name)
	if i < 0 || name == "version" {
		var names []string
		for _, s := range Settings(c) {
			names = append(names, s.Name)
		}
		return c, fmt.Errorf("there is no setting %s%s", Quoted(name), DidYouMean(name, names))
	}
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
		if err := json.Unmarshal([]byte(value), v.Field(i).Addr().Interface()); err != nil {
			return c, fmt.Errorf("%s: %w", name, err)
		}
	} else if err := parseLine(value, v.Field(i).Addr().Interface()); err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	f := File{fields: s}
	to := f.Over(c)
	if err := to.Check(own...); err != nil && c.Check(own...) == nil {
		return c, err
	}
	return to, nil
}

// formOf says how the value of a field is written.
func formOf(field any) string {
	switch field.(type) {
	case *int:
		return "a number"
	case []string:
		return "items with commas between them; nothing for none"
	case map[string]string:
		return "NAME=VALUE, with commas between several"
	case map[string][]string:
		return "NAME=VALUE, with commas between several; a name may have several values"
	case map[string][]int:
		return "INPUT=1x3x224x224, with commas between several"
	case map[string][]float64:
		return "TENSOR=LEAST..LARGEST, with commas between several"
	case []Profile:
		return `a list in JSON: [{"max_shapes": {"input": [8, 3, 224, 224]}}]`
	}
	return "a word"
}

// lineOf writes the value of a field as parseLine reads it, or in JSON where there are commas in its items.
func lineOf(field any) string {
	var items []string
	switch x := field.(type) {
	case *int:
		return strconv.Itoa(*x)
	case []string:
		items = x
	case map[string]string:
		items = pairs(x, func(v string) []string { return []string{v} })
	case map[string][]string:
		items = pairs(x, func(v []string) []string { return v })
	case map[string][]int:
		items = pairs(x, func(dims []int) []string {
			words := make([]string, len(dims))
			for i, d := range dims {
				words[i] = strconv.Itoa(d)
			}
			return []string{strings.Join(words, "x")}
		})
	case map[string][]float64:
		items = pairs(x, func(r []float64) []string {
			words := make([]string, len(r))
			for i, v := range r {
				words[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
			return []string{strings.Join(words, "..")}
		})
	case []Profile:
		if len(x) == 0 {
			return ""
		}
		items = []string{","}
	default:
		return reflect.ValueOf(field).Elem().String()
	}
	if !slices.ContainsFunc(items, func(s string) bool { return strings.Contains(s, ",") }) {
		return strings.Join(items, ",")
	}
	text, err := json.Marshal(field)
	if err != nil {
		panic("config: settings: " + err.Error()) // it was JSON before
	}
	return string(text)
}

// pairs writes the items of a map as NAME=VALUE.
func pairs[V any](m map[string]V, values func(V) []string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		for _, v := range values(m[name]) {
			list = append(list, name+"="+v)
		}
	}
	return list
}

// parseLine reads what field points to.
func parseLine(value string, field any) (err error) {
	switch to := field.(type) {
	case **int:
		n, err := strconv.Atoi(value)
		*to = &n
		if err != nil {
			return fmt.Errorf("%s is no number", Quoted(value))
		}
	case *[]string:
		*to = []string{}
		for _, word := range strings.Split(value, ",") {
			if word = strings.TrimSpace(word); word != "" {
				*to = append(*to, word)
			}
		}
	case *map[string]string:
		*to, err = readPairs(value, func(_ string, v string) (string, error) { return v, nil })
	case *map[string][]string:
		*to, err = readPairs(value, func(before []string, v string) ([]string, error) { return append(before, v), nil })
	case *map[string][]int:
		*to, err = readPairs(value, func(_ []int, v string) (dims []int, err error) { return numbers(v, "x", strconv.Atoi) })
	case *map[string][]float64:
		*to, err = readPairs(value, func(_ []float64, v string) ([]float64, error) {
			return numbers(v, "..", func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
		})
	case *[]Profile:
		if *to = []Profile{}; value != "" {
			return fmt.Errorf("want %s", formOf(*to))
		}
	default: // a pointer to a text
		p := reflect.ValueOf(field).Elem()
		p.Set(reflect.New(p.Type().Elem()))
		p.Elem().SetString(value)
	}
	return err
}

// readPairs reads what pairs writes; one behind the other of a name are read together.
func readPairs[V any](text string, read func(before V, value string) (V, error)) (map[string]V, error) {
	m := map[string]V{}
	for _, item := range strings.Split(text, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		i := strings.LastIndexByte(item, '=')
		if i <= 0 {
			return nil, fmt.Errorf("%s: want NAME=VALUE", Quoted(item))
		}
		v, err := read(m[item[:i]], item[i+1:])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Quoted(item), err)
		}
		m[item[:i]] = v
	}
	return m, nil
}

// numbers reads numbers with a separator between them.
func numbers[N cmp.Ordered](text, separator string, read func(string) (N, error)) ([]N, error) {
	var list []N
	for _, word := range strings.Split(text, separator) {
		n, err := read(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("%s is no number", Quoted(word))
		}
		list = append(list, n)
	}
	return list, nil
}
