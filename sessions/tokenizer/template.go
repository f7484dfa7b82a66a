package tokenizer

// template is what stands around a text's tokens.
type template struct{ before, behind []int }

func (t template) around(ids []int) []int {
	all := make([]int, 0, len(t.before)+len(ids)+len(t.behind))
	return append(append(append(all, t.before...), ids...), t.behind...)
}

// templateOf returns what the file's post-processor adds to a single text.
func templateOf(s *section) template {
	switch kind := s.kind(); kind {
	case "", "ByteLevel": // of which the latter only moves offsets
		return template{}
	case "Sequence":
		var all template
		for _, part := range s.list("processors") {
			some := templateOf(part)
			all.before = append(some.before, all.before...)
			all.behind = append(all.behind, some.behind...)
		}
		return all
	case "BertProcessing", "RobertaProcessing":
		return template{[]int{s.tokenPair("cls")}, []int{s.tokenPair("sep")}}
	case "TemplateProcessing":
		return templateProcessing(s)
	default:
		s.unknown("post_processor")
		return template{}
	}
}

// templateProcessing reads the form for a single text: a list of special tokens and the place of the text.
func templateProcessing(s *section) template {
	var t template
	known, behind := s.table("special_tokens"), false
	for _, part := range s.list("single") {
		if part.has("Sequence") {
			behind = true
			continue
		}
		name := part.inner("SpecialToken").text("id")
		token, ok := known[name]
		if !ok {
			s.fail("special token %q of the template is not among its special tokens", name)
			return t
		}
		if ids := token.numbers("ids"); behind {
			t.behind = append(t.behind, ids...)
		} else {
			t.before = append(t.before, ids...)
		}
	}
	return t
}
