package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/trtui/trtui/core/graph/numeric"
)

// mlComposites are operators of ai.onnx.ml, the domain of classical machine learning: what converters of scikit-learn, XGBoost and
// LightGBM write.
var mlComposites = map[string]func(*Definition, *Node) ([]*Tensor, error){
	"ai.onnx.ml:ArrayFeatureExtractor":  arrayFeatures,
	"ai.onnx.ml:Binarizer":              binarizer,
	"ai.onnx.ml:CategoryMapper":         categoryMapper,
	"ai.onnx.ml:FeatureVectorizer":      featureVectorizer,
	"ai.onnx.ml:Imputer":                imputer,
	"ai.onnx.ml:LabelEncoder":           labelEncoder,
	"ai.onnx.ml:LinearClassifier":       linearClassifier,
	"ai.onnx.ml:LinearRegressor":        linearRegressor,
	"ai.onnx.ml:Normalizer":             normalizer,
	"ai.onnx.ml:OneHotEncoder":          oneHotEncoder,
	"ai.onnx.ml:Scaler":                 scaler,
	"ai.onnx.ml:TreeEnsemble":           treeEnsemble,
	"ai.onnx.ml:TreeEnsembleClassifier": treeClassifier,
	"ai.onnx.ml:TreeEnsembleRegressor":  treeRegressor,
	"ai.onnx.ml:ZipMap":                 zipMap,
}

// table adds a constant.
func (d *Definition) table(name string, v numeric.Value) *Tensor { return d.Constant(d.fresh(name), v) }

// real is input 0 in the type that the operators compute in: F64 stays, all others are F32.
func (d *Definition) real(n *Node) (*Tensor, error) {
	x := n.Input(0)
	if err := n.needs(0); err != nil {
		return nil, err
	}
	if len(x.Dims) == 0 {
		return nil, fmt.Errorf("input 0 is %s, want features along its last axis", x.TypeString())
	}
	if x.Type == numeric.F64 {
		return x, nil
	}
	return d.as(x, numeric.F32), nil
}

// rowsOf is d.real of a matrix: a row for each item.
func (d *Definition) rowsOf(n *Node) (*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	if err := n.ranked(axes{0, []int{2}}); err != nil {
		return nil, err
	}
	return d.real(n)
}

// features adds numbers for the features of x, of its type: one for each along its last axis, or one for all.
func (d *Definition) features(name string, x *Tensor, list []float32) (*Tensor, error) {
	if e, ok := x.Dims[len(x.Dims)-1].IsConst(); len(list) != 1 && (!ok || e != len(list)) || len(list) == 0 {
		return nil, fmt.Errorf("attribute %s has %d numbers for the features of %s", name, len(list), x.TypeString())
	}
	return d.as(d.table(name, numeric.Values(numeric.F32, list, len(list))), x.Type), nil
}

// scaler is (x - offset) * scale.
func scaler(d *Definition, n *Node) ([]*Tensor, error) {
	x, err := d.real(n)
	if err != nil {
		return nil, err
	}
	x = d.as(x, numeric.F32)
	offset, err := d.features("offset", x, n.Floats("offset"))
	if err != nil {
		return nil, err
	}
	scale, err := d.features("scale", x, n.Floats("scale"))
	if err != nil {
		return nil, err
	}
	return result(d.Mul(d.Sub(x, offset), scale))
}

// binarizer is 1 above a threshold, and 0 up to it, in the type of x.
func binarizer(d *Definition, n *Node) ([]*Tensor, error) {
	x, err := d.real(n)
	if err != nil {
		return nil, err
	}
	threshold, err := d.features("threshold", x, []float32{n.Float("threshold", 0)})
	if err != nil {
		return nil, err
	}
	return result(d.Cast(d.Greater(x, threshold), n.Input(0).Type))
}

// imputer puts numbers in the place of those that are missing: NaN, or a number.
func imputer(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	x := n.Input(0)
	if len(x.Dims) == 0 {
		return nil, fmt.Errorf("input 0 is %s, want features along its last axis", x.TypeString())
	}
	if x.Type == numeric.I64 {
		list, missing := n.Ints("imputed_value_int64s"), n.Int("replaced_value_int64", 0)
		if e, ok := x.Dims[len(x.Dims)-1].IsConst(); len(list) != 1 && (!ok || e != len(list)) || len(list) == 0 {
			return nil, fmt.Errorf("attribute imputed_value_int64s has %d numbers for the features of %s", len(list), x.TypeString())
		}
		return result(d.Where(d.Equal(x, d.number(int64(missing))), d.list("Imputer", "values", list), x))
	}
	values, err := d.features("imputed_value_floats", x, n.Floats("imputed_value_floats"))
	if err != nil {
		return nil, err
	}
	if !x.Type.IsFloat() {
		return nil, fmt.Errorf("input 0 is %s, want reals or i64", x.TypeString())
	}
	replaced := n.Float("replaced_value_float", 0)
	lacks := d.IsNaN(x)
	if replaced == replaced {
		lacks = d.Equal(x, d.as(d.table("replaced", numeric.Values(numeric.F32, []float32{replaced})), x.Type))
	}
	return result(d.Where(lacks, values, x))
}

// normalizer divides the rows of x by their largest element, the sum of their magnitudes or the root of that of their squares; a row
// where that is 0 stays.
func normalizer(d *Definition, n *Node) ([]*Tensor, error) {
	x, err := d.real(n)
	if err != nil {
		return nil, err
	}
	x = d.as(x, numeric.F32)
	var norm *Tensor
	switch kind := n.String("norm", "MAX"); kind {
	case "MAX":
		norm = d.Reduce(ReduceMax, x, true, -1)
	case "L1":
		norm = d.Reduce(ReduceL1, x, true, -1)
	case "L2":
		norm = d.Reduce(ReduceL2, x, true, -1)
	default:
		return nil, fmt.Errorf("norm %q is unknown; it is MAX, L1 or L2", kind)
	}
	none := d.table("none", numeric.Values(numeric.F32, []float32{0}))
	one := d.table("one", numeric.Values(numeric.F32, []float32{1}))
	return result(d.Div(x, d.Where(d.Equal(norm, none), one, norm)))
}

// arrayFeatures is the features at some places; a list has them in a row.
func arrayFeatures(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0, 1); err != nil {
		return nil, err
	}
	x := n.Input(0)
	if len(x.Dims) == 0 {
		return nil, fmt.Errorf("input 0 is %s, want features along its last axis", x.TypeString())
	}
	y := d.Gather(x, d.Reshape(n.Input(1), -1), len(x.Dims)-1)
	if len(x.Dims) == 1 {
		y = d.Unsqueeze(y, 0)
	}
	return result(y)
}

// featureVectorizer is its inputs, matrices, side by side.
func featureVectorizer(d *Definition, n *Node) ([]*Tensor, error) {
	sizes := n.Ints("inputdimensions")
	if len(n.Inputs) == 0 || len(sizes) != len(n.Inputs) {
		return nil, fmt.Errorf("attribute inputdimensions is of %d inputs, and there are %d", len(sizes), len(n.Inputs))
	}
	var list []*Tensor
	for i, size := range sizes {
		if err := n.needs(i); err != nil {
			return nil, err
		}
		if err := n.ranked(axes{i, []int{2}}); err != nil {
			return nil, err
		}
		if e, err := n.extent(i, 1); err != nil || e != size {
			return nil, fmt.Errorf("input %d is %s, and inputdimensions says %d features", i, n.Inputs[i].TypeString(), size)
		}
		list = append(list, d.as(n.Inputs[i], numeric.F32))
	}
	return result(d.Concat(1, list...))
}

// oneHotEncoder has a new last axis, a place for each category, with 1 at that which x is.
func oneHotEncoder(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	x, cats, words := n.Input(0), n.Ints("cats_int64s"), n.Strings("cats_strings")
	switch {
	case (len(cats) > 0) == (len(words) > 0):
		return nil, fmt.Errorf("one of the attributes cats_int64s and cats_strings is needed")
	case (len(words) > 0) != (x.Type == numeric.Str):
		return nil, fmt.Errorf("input 0 is %s, which the categories are not", x.TypeString())
	case !n.Flag("zeros", true):
		return nil, fmt.Errorf("zeros 0, an error for elements of no category, is not supported")
	}
	if len(words) > 0 {
		x, cats = d.places(x, words)
	} else {
		x = d.as(x, numeric.I64)
	}
	return result(d.Cast(d.Equal(d.Unsqueeze(x, len(x.Dims)), d.list("OneHotEncoder", "categories", cats)), numeric.F32))
}

// places is the number of each string of x among those of a list, which is returned with these numbers, and -1 where it is none.
func (d *Definition) places(x *Tensor, list []string) (at *Tensor, numbers []int) {
	words := wordsOf(list)
	for _, s := range list {
		numbers = append(numbers, words.find(s))
	}
	return d.StringIndex(x, words), numbers
}

// zipMap is what it is given: a row of a matrix is a map, of which the columns are the values by class. There are no maps here.
func zipMap(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	n.Ints("classlabels_int64s")
	n.Strings("classlabels_strings")
	return result(d.Identity(n.Input(0)))
}

// listed is a list of strings, or of integers, as a value.
func listed(strings []string, ints []int) numeric.Value {
	if len(strings) > 0 {
		return numeric.Strings(strings, len(strings))
	}
	v := numeric.NewValue(numeric.I64, len(ints))
	for i, k := range ints {
		v.I64()[i] = int64(k)
	}
	return v
}

// encoded are the keys or the values of a LabelEncoder.
func encoded(n *Node, part string) (v numeric.Value, err error) {
	if v = listed(n.Strings(part+"_strings"), n.Ints(part+"_int64s")); v.Len() > 0 {
		return v, nil
	}
	if list := n.Floats(part + "_floats"); len(list) > 0 {
		return numeric.Values(numeric.F32, list, len(list)), nil
	}
	if v, ok := n.Tensor(part + "_tensor"); ok && len(v.Dims) == 1 && v.Dims[0] > 0 {
		return v, nil
	}
	return v, fmt.Errorf("attribute %s_strings, %s_int64s, %s_floats or %s_tensor is missing", part, part, part, part)
}

// maxKeys bounds those of a LabelEncoder that are numbers, with each of which every element is compared.
const maxKeys = 1 << 12

// labelEncoder is the value at the first key that an element is equal to, NaN to NaN, and a default where there is none.
func labelEncoder(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	if classes := n.Strings("classes_strings"); len(classes) > 0 { // of operator set 1
		return d.classes(n, classes)
	}
	keys, err := encoded(n, "keys")
	if err != nil {
		return nil, err
	}
	values, err := encoded(n, "values")
	if err != nil {
		return nil, err
	}
	def, err := encoderDefault(n, values.Type)
	if err != nil {
		return nil, err
	}
	return d.mapped(n.Input(0), keys, values, def)
}

// classes is the place of a string in a list, or the string at a place.
func (d *Definition) classes(n *Node, list []string) ([]*Tensor, error) {
	places := make([]int, len(list))
	for i := range places {
		places[i] = i
	}
	keys, values := listed(list, nil), listed(nil, places)
	if n.Input(0).Type != numeric.Str {
		keys, values = values, keys
	}
	def, err := encoderDefault(n, values.Type)
	if err != nil {
		return nil, err
	}
	return d.mapped(n.Input(0), keys, values, def)
}

// encoderDefault is what a LabelEncoder with values of a type gives for what is no key.
func encoderDefault(n *Node, t numeric.DataType) (numeric.Value, error) {
	text, whole, fraction := n.String("default_string", "_Unused"), n.Int("default_int64", -1), n.Float("default_float", float32(math.Copysign(0, -1)))
	v, ok := n.Tensor("default_tensor")
	switch {
	case ok && (v.Type != t || v.Len() != 1):
		return v, fmt.Errorf("default_tensor is %s%v, want an element of %s", v.Type, v.Dims, t)
	case ok:
		v.Dims = nil
		return v, nil
	case t == numeric.Str:
		return numeric.Strings([]string{text}), nil
	case t == numeric.I64:
		return numeric.Values(numeric.I64, []int64{int64(whole)}), nil
	}
	v = numeric.NewValue(t)
	numeric.Cast(v, numeric.Values(numeric.F32, []float32{fraction}))
	return v, nil
}

// mapped is the value at the first key that an element of x is equal to, NaN to NaN, and a default where there is none.
func (d *Definition) mapped(x *Tensor, keys, values, def numeric.Value) ([]*Tensor, error) {
	switch {
	case keys.Len() != values.Len():
		return nil, fmt.Errorf("%d keys and %d values", keys.Len(), values.Len())
	case keys.Type != x.Type:
		return nil, fmt.Errorf("input 0 is %s, and its keys are %s", x.TypeString(), keys.Type)
	case keys.Type == numeric.Str:
		return d.mappedStrings(x, keys.Strings(), values, def)
	case keys.Len() > maxKeys:
		return nil, fmt.Errorf("%d keys; at most %d are supported", keys.Len(), maxKeys)
	}
	wide := d.Unsqueeze(x, len(x.Dims))
	equal := d.Equal(wide, d.table("keys", keys))
	if keys.Type.IsFloat() && slices.ContainsFunc(keys.Float64s(), math.IsNaN) {
		nan := numeric.NewValue(numeric.Bool, keys.Len())
		for i, k := range keys.Float64s() {
			if math.IsNaN(k) {
				nan.Data[i] = 1
			}
		}
		equal = d.Or(equal, d.And(d.IsNaN(wide), d.table("nan", nan)))
	}
	hits := d.Cast(equal, numeric.I32)
	at := d.ArgMax(hits, ArgAttrs{Axis: len(x.Dims)})
	found := d.Cast(d.Reduce(ReduceMax, hits, false, len(x.Dims)), numeric.Bool)
	return result(d.Where(found, d.Gather(d.table("values", values), at, 0), d.table("default", def)))
}

// mappedStrings is mapped for keys that are strings: those of one word are one, and behind the values of the words is the default.
func (d *Definition) mappedStrings(x *Tensor, keys []string, values, def numeric.Value) ([]*Tensor, error) {
	at, numbers := d.places(x, keys)
	last := 1 + slices.Max(numbers)
	first := make([]int, last)
	for i := len(numbers) - 1; i >= 0; i-- {
		first[numbers[i]] = i
	}
	of := numeric.NewValue(values.Type, last+1)
	if values.Type == numeric.Str {
		list, all := make([]string, 0, last+1), values.Strings()
		for _, i := range first {
			list = append(list, all[i])
		}
		of = numeric.Strings(append(list, def.Strings()...), last+1)
	} else {
		size := values.Type.Size()
		for place, i := range first {
			copy(of.Data[place*size:], values.Data[i*size:(i+1)*size])
		}
		copy(of.Data[last*size:], def.Data)
	}
	return result(d.Gather(d.table("values", of), d.Where(d.Less(at, d.number(0)), d.number(int64(last)), at), 0))
}

// categoryMapper is the number of a word, or the word of a number, and a default where there is none.
func categoryMapper(d *Definition, n *Node) ([]*Tensor, error) {
	if err := n.needs(0); err != nil {
		return nil, err
	}
	words, numbers := n.Strings("cats_strings"), n.Ints("cats_int64s")
	text, whole := n.String("default_string", "_Unused"), n.Int("default_int64", -1)
	if len(words) == 0 || len(words) != len(numbers) {
		return nil, fmt.Errorf("%d cats_strings and %d cats_int64s", len(words), len(numbers))
	}
	if n.Input(0).Type == numeric.Str {
		return d.mapped(n.Input(0), listed(words, nil), listed(nil, numbers), numeric.Values(numeric.I64, []int64{int64(whole)}))
	}
	return d.mapped(n.Input(0), listed(nil, numbers), listed(words, nil), numeric.Strings([]string{text}))
}

// linearRegressor is a product with the coefficients of each target, and a sum.
func linearRegressor(d *Definition, n *Node) ([]*Tensor, error) {
	y, err := d.linear(n, n.Int("targets", 1))
	if err != nil {
		return nil, err
	}
	y, err = d.transformed(y, n.String("post_transform", "NONE"))
	return []*Tensor{y}, err
}

// linear adds the product of rows with coefficients for so many results, and what is added to it.
func (d *Definition) linear(n *Node, results int) (*Tensor, error) {
	x, err := d.rowsOf(n)
	if err != nil {
		return nil, err
	}
	list, bias := n.Floats("coefficients"), n.Floats("intercepts")
	features, err := n.extent(0, 1)
	switch {
	case err != nil:
		return nil, err
	case results < 1 || len(list)/results != features || len(list)%results != 0:
		return nil, fmt.Errorf("%d coefficients of %d features for %d results", len(list), features, results)
	case len(bias) > 0 && len(bias) != results:
		return nil, fmt.Errorf("%d intercepts for %d results", len(bias), results)
	}
	w := d.table("coefficients", numeric.Values(numeric.F32, list, results, features))
	var b *Tensor
	if len(bias) > 0 {
		b = d.table("intercepts", numeric.Values(numeric.F32, bias, results))
	}
	return d.Gemm(d.as(x, numeric.F32), w, b, GemmAttrs{TransB: true, Alpha: 1, Beta: 1}), nil
}

// transformed adds what becomes of the scores of each row.
func (d *Definition) transformed(y *Tensor, kind string) (*Tensor, error) {
	switch kind {
	case "NONE":
		return y, nil
	case "LOGISTIC":
		return d.Sigmoid(y), nil
	case "SOFTMAX":
		return d.Softmax(y, -1), nil
	}
	return nil, fmt.Errorf("post_transform %q is not supported; NONE, LOGISTIC and SOFTMAX are", kind)
}

// classLabels returns the labels of a classifier, strings or integers.
func classLabels(n *Node, ints string) (labels numeric.Value, err error) {
	if labels = listed(n.Strings("classlabels_strings"), n.Ints(ints)); labels.Len() == 0 {
		return labels, fmt.Errorf("attribute %s or classlabels_strings is missing", ints)
	}
	return labels, nil
}

// labelled is the label of the class with the largest score of each row, the first of equal ones.
func (d *Definition) labelled(scores *Tensor, labels numeric.Value) *Tensor {
	return d.Gather(d.table("labels", labels), d.ArgMax(scores, ArgAttrs{Axis: 1}), 0)
}

// positive is the second of two labels for the rows [N,1] where a condition holds, and the first for the others.
func (d *Definition) positive(condition *Tensor, labels numeric.Value) *Tensor {
	label := func(i int) *Tensor {
		v := labels.Rows(i, i+1)
		return d.table("label", numeric.Value{Type: v.Type, Data: v.Data})
	}
	return d.Where(d.Squeeze(condition, 1), label(1), label(0))
}

// linearClassifier is the class of the largest of the scores, which are a product and a sum, and the scores.
func linearClassifier(d *Definition, n *Node) ([]*Tensor, error) {
	labels, err := classLabels(n, "classlabels_ints")
	if err != nil {
		return nil, err
	}
	n.Int("multi_class", 0) // says how it was trained
	scores, err := d.linear(n, labels.Len())
	if err != nil {
		return nil, err
	}
	y, err := d.transformed(scores, n.String("post_transform", "NONE"))
	return []*Tensor{d.labelled(scores, labels), y}, err
}
