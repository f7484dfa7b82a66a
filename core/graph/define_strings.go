package graph

// StringConcat joins each string of a with that of b; they broadcast.
func (d *Definition) StringConcat(a, b *Tensor) *Tensor { return d.Layer(StringConcat, nil, a, b) }

// StringSplit cuts each string of x into parts, and counts each one's: see [StringSplitAttrs].
func (d *Definition) StringSplit(x *Tensor, a StringSplitAttrs) (parts, counts *Tensor) {
	if a.Count == "" {
		a.Count = d.countOf(StringSplit)
	}
	list := d.Layers(StringSplit, a, 3, x)
	return list[0], list[1]
}

// StringCase makes all letters of x small or capital.
func (d *Definition) StringCase(x *Tensor, a StringCaseAttrs) *Tensor {
	return d.Layer(StringCase, a, x)
}

// StringIndex adds the I64 place of each string of x among words, which are in rising order, and -1 where it is none of them.
func (d *Definition) StringIndex(x *Tensor, words Words) *Tensor {
	return d.Layer(StringIndex, StringIndexAttrs{words}, x)
}

// RegexFullMatch says of each string of x whether all of it matches a regular expression.
func (d *Definition) RegexFullMatch(x *Tensor, pattern string) *Tensor {
	return d.Layer(RegexFullMatch, RegexAttrs{pattern}, x)
}
