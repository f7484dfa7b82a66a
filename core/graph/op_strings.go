package graph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trtui/trtui/core/graph/numeric"
	"github.com/trtui/trtui/core/graph/symbolic"
)

// StringConcat joins each string of input 0 with that of input 1; they broadcast.
var StringConcat = &Op{
	Name:  "StringConcat",
	Reals: AsStored, Strings: StringsRead,
	Onnx:  []string{"StringConcat"},
	Class: ClassElementwise, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		a, err := l.needStrings(0)
		if err != nil {
			return err
		}
		b, err := l.needStrings(1)
		if err != nil {
			return err
		}
		dims, err := BroadcastDims(a.Dims, b.Dims)
		l.Outputs[0].Type, l.Outputs[0].Dims = numeric.Str, dims
		return err
	},
	Eval: func(_ *Layer, in, out []numeric.Value) error {
		var ways [2]numeric.Broadcast
		for i := range ways {
			var err error
			if ways[i], err = numeric.NewBroadcast(in[i].Dims, out[0].Dims); err != nil {
				return err
			}
		}
		a, b := in[0].Strings(), in[1].Strings()
		list, size := make([]string, out[0].Len()), 0
		for i := range list {
			s, t := a[ways[0].At(i)], b[ways[1].At(i)]
			if size += len(s) + len(t); size > numeric.MaxText {
				return fmt.Errorf("the result has more than %d MiB of text", numeric.MaxText>>20)
			}
			list[i] = s + t
		}
		out[0] = numeric.Strings(list, out[0].Dims...)
		return nil
	},
}

// StringSplitAttrs are the attributes of StringSplit.
type StringSplitAttrs struct {
	Delimiter string // between parts; "" for white space, of which there may be any
	Splits    int    // so many at most, and the last part is what is left; -1 for any number
	Most      int    // parts that a string may have, where Splits is -1
	Count     string // the symbol of how many the longest list has, where that does not follow from constants; "" if it must
}

// StringSplit cuts each string into parts: [..., parts], where behind the last part of one that has fewer are empty strings, and
// the I64 number of each one's parts. How many the most are is counted on output 2, a list of that length, where it does not follow from
// constants.
var StringSplit = &Op{
	Name:  "StringSplit",
	Attrs: StringSplitAttrs{},
	Reals: AsStored, Strings: StringsRead,
	Class: ClassReduction, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Counted: func(l *Layer) []Counting {
		a := l.Attrs.(StringSplitAttrs)
		if a.Count == "" || len(l.Outputs) < 3 || l.Inputs[0] == nil {
			return nil
		}
		if _, err := l.Inputs[0].determined(); err == nil {
			return nil
		}
		return []Counting{{Symbol: a.Count, Output: 2, Most: symbolic.Const(a.most())}}
	},
	Infer: func(l *Layer) error {
		x, err := l.needStrings(0)
		if err != nil {
			return err
		}
		a := l.Attrs.(StringSplitAttrs)
		if a.Splits < -1 || a.most() < 1 || a.most() > maxExtent {
			return fmt.Errorf("%d splits, and %d parts at most", a.Splits, a.most())
		}
		var many symbolic.Dim
		if l.Counts() {
			many = symbolic.Symbol(a.Count)
		} else {
			v, err := l.determined(0)
			if err != nil {
				return err
			}
			_, most := a.split(v)
			many = symbolic.Const(most)
		}
		types := []numeric.DataType{numeric.Str, numeric.I64, numeric.I64}
		for i, dims := range [][]symbolic.Dim{append(slices.Clone(x.Dims), many), x.Dims, {many}} {
			if i < len(l.Outputs) {
				l.Outputs[i].Type, l.Outputs[i].Dims = types[i], dims
			}
		}
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		a := l.Attrs.(StringSplitAttrs)
		parts, most := a.split(in[0])
		if len(out) > 2 {
			places := make([]int64, most)
			for i := range places {
				places[i] = int64(i)
			}
			if err := writeCounted(l, out[2], places); err != nil {
				return fmt.Errorf("%w; a string may have %d parts", err, a.most())
			}
		}
		list := make([]string, out[0].Len())
		if most*len(parts) > len(list) {
			return fmt.Errorf("a string has %d parts, the shape of the result is %v", most, out[0].Dims)
		}
		for i, p := range parts {
			copy(list[i*most:], p)
			if len(out) > 1 {
				out[1].I64()[i] = int64(len(p))
			}
		}
		out[0] = numeric.Strings(list, out[0].Dims...)
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(StringSplitAttrs)
		attrs := Attributes{"delimiter": a.Delimiter}
		if a.Splits >= 0 {
			attrs["maxsplit"] = a.Splits
		}
		if len(e.outputs) > 2 { // the parts' places
			shape := e.Step("Shape", nil, e.outputs[0])
			last := e.Step("Gather", nil, shape, e.scalar("last", -1))
			if err := e.add(OldestExport, "Range", nil, []string{e.scalar("first", 0), last, e.scalar("step", 1)}, e.outputs[2:]); err != nil {
				return err
			}
			split := OnnxNode{Op: "StringSplit", Since: OldestExport, Inputs: e.Inputs(), Outputs: slices.Clone(e.outputs[:2]), Attrs: attrs}
			e.Nodes = slices.Insert(e.Nodes, 0, split)
			return nil
		}
		return e.Node("StringSplit", attrs)
	},
}

// most is how many parts a string may have.
func (a StringSplitAttrs) most() int {
	if a.Splits >= 0 {
		return a.Splits + 1
	}
	return a.Most
}

// split returns the parts of each string, and the most that one has.
func (a StringSplitAttrs) split(v numeric.Value) (parts [][]string, most int) {
	for _, s := range v.Strings() {
		p := a.parts(s)
		parts, most = append(parts, p), max(most, len(p))
	}
	return parts, most
}

// parts returns those of one string.
func (a StringSplitAttrs) parts(s string) []string {
	switch {
	case a.Delimiter != "" && a.Splits < 0:
		return strings.Split(s, a.Delimiter)
	case a.Delimiter != "":
		return strings.SplitN(s, a.Delimiter, a.Splits+1)
	case a.Splits < 0:
		return strings.Fields(s)
	}
	var parts []string
	for s = strings.TrimLeftFunc(s, unicode.IsSpace); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 || len(parts) == a.Splits {
			return append(parts, s)
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
	return parts
}

// defaultParts is how many parts a string may have where neither the node nor who imports it says so.
const defaultParts = 256

// importStringSplit adds a StringSplit that counts.
func importStringSplit(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	a := StringSplitAttrs{Delimiter: n.String("delimiter", ""), Splits: -1, Most: defaultParts, Count: countSymbol(n.Name)}
	if n.MaxExtent > 0 {
		a.Most = n.MaxExtent
	}
	if n.Has("maxsplit") {
		if a.Splits = n.Int("maxsplit", 0); a.Splits < 0 {
			a.Splits = -1
		}
	}
	parts, counts := d.StringSplit(n.Input(0), a)
	return []*Tensor{parts, counts}, nil
}

// The ways in which StringCase changes letters.
const (
	CaseLower = "LOWER"
	CaseUpper = "UPPER"
)

// StringCaseAttrs are the attributes of StringCase.
type StringCaseAttrs struct {
	To     string // CaseLower or CaseUpper
	Locale string // whose letters they are, as in "tr_TR"; "" for those of most languages
}

// StringCase makes all letters small, or all capital, each by itself.
var StringCase = &Op{
	Name:  "StringCase",
	Attrs: StringCaseAttrs{},
	Reals: AsStored, Strings: StringsRead,
	Class: ClassElementwise, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.needStrings(0)
		if err != nil {
			return err
		}
		if to := l.Attrs.(StringCaseAttrs).To; to != CaseLower && to != CaseUpper {
			return fmt.Errorf("letters cannot become %q; it is %s or %s", to, CaseLower, CaseUpper)
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = numeric.Str, x.Dims
		return nil
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		change, list := l.Attrs.(StringCaseAttrs).change(), in[0].Strings()
		for i, s := range list {
			list[i] = change(s)
		}
		out[0] = numeric.Strings(list, out[0].Dims...)
		return nil
	},
	Export: func(e *Exporter) error {
		a := e.Layer.Attrs.(StringCaseAttrs)
		attrs := Attributes{"case_change_action": a.To}
		if a.Locale != "" {
			attrs["locale"] = a.Locale
		}
		switch x := e.Layer.Inputs[0]; {
		case productOf(x.Dims).Is(0): // of which a StringNormalizer makes one empty string
			return e.Node("Identity", nil)
		case len(x.Dims) == 1:
			return e.Node("StringNormalizer", attrs)
		}
		flat := e.Step("StringNormalizer", attrs, e.Step("Reshape", nil, e.Input(0), e.list("flat", []int{-1})))
		return e.Node("Reshape", nil, flat, e.Step("Shape", nil, e.Input(0)))
	},
}

// change returns what becomes of a string.
func (a StringCaseAttrs) change() func(string) string {
	language, _, _ := strings.Cut(a.Locale, "_")
	turkish := language == "tr" || language == "az"
	switch {
	case a.To == CaseUpper && turkish:
		return func(s string) string { return strings.ToUpperSpecial(unicode.TurkishCase, s) }
	case a.To == CaseUpper:
		return strings.ToUpper
	case turkish:
		return func(s string) string { return strings.ToLowerSpecial(unicode.TurkishCase, s) }
	}
	return strings.ToLower
}

// importStringNormalizer changes the letters of a list of strings, or of a row of them, and leaves out those that are stop words. Where
// none is left there is one empty string.
func importStringNormalizer(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{1, 2}}); err != nil {
		return nil, err
	}
	x, stop := n.Input(0), n.Strings("stopwords")
	to, locale, exact := n.String("case_change_action", "NONE"), n.String("locale", ""), n.Flag("is_case_sensitive", false)
	row := len(x.Dims) == 2
	if row && !x.Dims[0].Is(1) {
		return nil, fmt.Errorf("input 0 is %s, want a list or one row", x.TypeString())
	}
	changed := func(t *Tensor, to string) *Tensor {
		if to == "NONE" {
			return t
		}
		return d.StringCase(t, StringCaseAttrs{To: to, Locale: locale})
	}
	y := changed(x, to)
	if last := x.Dims[len(x.Dims)-1]; len(stop) == 0 && !last.Is(0) {
		return result(y)
	}
	compared := x
	if !exact {
		compared = changed(x, CaseLower)
		lower := StringCaseAttrs{CaseLower, locale}.change()
		stop = slices.Clone(stop)
		for i, s := range stop {
			stop[i] = lower(s)
		}
	}
	zero, one := d.number(0), d.number(1)
	kept := d.Less(d.StringIndex(d.Reshape(compared, -1), wordsOf(stop)), zero)
	any := d.Reduce(ReduceMax, d.Concat(0, d.Cast(kept, numeric.I64), d.list("StringNormalizer", "none", []int{0})), true, 0)
	places := d.NonZero(d.Concat(0, kept, d.Less(any, one)))
	all := d.Concat(0, d.Reshape(y, -1), d.table("empty", numeric.NewValue(numeric.Str, 1)))
	z := d.Gather(all, d.Reshape(places, -1), 0)
	if row {
		z = d.Unsqueeze(z, 0)
	}
	return result(z)
}

// RegexAttrs are the attributes of RegexFullMatch.
type RegexAttrs struct{ Pattern string }

// RegexFullMatch says of each string whether all of it matches a regular expression in the syntax of RE2, which is Go's.
var RegexFullMatch = &Op{
	Name:  "RegexFullMatch",
	Attrs: RegexAttrs{},
	Reals: AsStored, Strings: StringsRead,
	Onnx:  []string{"RegexFullMatch"},
	Class: ClassElementwise, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.needStrings(0)
		if err != nil {
			return err
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = numeric.Bool, x.Dims
		_, err = l.Attrs.(RegexAttrs).compile()
		return err
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		pattern, err := l.Attrs.(RegexAttrs).compile()
		if err != nil {
			return err
		}
		for i, s := range in[0].Strings() {
			if pattern.MatchString(s) {
				out[0].Data[i] = 1
			}
		}
		return nil
	},
	Import: func(n *Node) (any, []*Tensor, error) {
		if !n.Has("pattern") {
			return nil, nil, fmt.Errorf("attribute pattern is missing")
		}
		return RegexAttrs{n.String("pattern", "")}, n.Inputs, nil
	},
	Export: func(e *Exporter) error {
		return e.Node("RegexFullMatch", Attributes{"pattern": e.Layer.Attrs.(RegexAttrs).Pattern})
	},
}

// compile returns the expression, which matches whole strings alone.
func (a RegexAttrs) compile() (*regexp.Regexp, error) {
	if _, err := regexp.Compile(a.Pattern); err != nil { // by itself: what is around it must not make it one
		return nil, fmt.Errorf("pattern %q: %w", a.Pattern, err)
	}
	return regexp.Compile(`\A(?:` + a.Pattern + `)\z`)
}

// Words are strings in rising order, each once.
type Words []string

// wordsOf returns the words of a list.
func wordsOf(list []string) Words {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// find returns the place of a string, or -1.
func (w Words) find(s string) int {
	if at, ok := slices.BinarySearch(w, s); ok {
		return at
	}
	return -1
}

// check returns an error where they are no words.
func (w Words) check() error {
	for i, s := range w {
		if i > 0 && w[i-1] >= s {
			return fmt.Errorf("words %q and %q are not in rising order", w[i-1], s)
		}
		if !utf8.ValidString(s) {
			return fmt.Errorf("word %q is not written in UTF-8", s)
		}
	}
	return nil
}

// String names the first of them, and says how many more there are.
func (w Words) String() string {
	const shown = 8
	if len(w) <= shown {
		return fmt.Sprintf("%q", []string(w))
	}
	return fmt.Sprintf("%q and %d more", []string(w[:shown]), len(w)-shown)
}

// StringIndexAttrs are the attributes of StringIndex.
type StringIndexAttrs struct{ Words Words }

// StringIndex is the I64 place of each string among words, and -1 where it is none of them.
var StringIndex = &Op{
	Name:  "StringIndex",
	Attrs: StringIndexAttrs{},
	Reals: AsStored, Strings: StringsRead,
	Class: ClassElementwise, Inputs: []Role{Data}, Memory: Written,
	Moves: computed,
	FLOPs: noFLOPs,
	Infer: func(l *Layer) error {
		x, err := l.needStrings(0)
		if err != nil {
			return err
		}
		l.Outputs[0].Type, l.Outputs[0].Dims = numeric.I64, x.Dims
		return l.Attrs.(StringIndexAttrs).Words.check()
	},
	Eval: func(l *Layer, in, out []numeric.Value) error {
		words := l.Attrs.(StringIndexAttrs).Words
		for i, s := range in[0].Strings() {
			out[0].I64()[i] = int64(words.find(s))
		}
		return nil
	},
	Export: func(e *Exporter) error {
		words := e.Layer.Attrs.(StringIndexAttrs).Words
		if len(words) == 0 { // a LabelEncoder has keys
			shape := e.Step("Shape", nil, e.Input(0))
			return e.Node("ConstantOfShape", Attributes{"value": numeric.Values(numeric.I64, []int64{-1}, 1)}, shape)
		}
		places := make([]int, len(words))
		for i := range places {
			places[i] = i
		}
		return e.Node("ai.onnx.ml:LabelEncoder", Attributes{"keys_strings": []string(words), "values_int64s": places, "default_int64": -1})
	},
}

// needStrings returns input i, which must be strings.
func (l *Layer) needStrings(i int) (*Tensor, error) {
	t, err := l.need(i)
	if err == nil && t.Type != numeric.Str {
		err = fmt.Errorf("input %d is %s, want strings", i, t.TypeString())
	}
	return t, err
}
