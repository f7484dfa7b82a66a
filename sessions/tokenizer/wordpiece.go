package tokenizer

import "unicode/utf8"

// wordPiece takes the longest token that a word begins with, and so on with the rest, whose tokens have a prefix. A word that
// cannot be cut so is unknown as a whole. With no prefix to try and whole words only it is a list of words.
type wordPiece struct {
	ids     map[string]int
	unknown int
	prefix  string
	longest int  // letters of the longest word that is tried
	whole   bool // words are tokens or unknown
}

func (m *wordPiece) tokenize(word string) ([]int, error) {
	if m.whole {
		if id, ok := m.ids[word]; ok {
			return []int{id}, nil
		}
		return m.giveUp(), nil
	}
	if utf8.RuneCountInString(word) > m.longest {
		return m.giveUp(), nil
	}
	var ids []int
	for from := 0; from < len(word); {
		end, found := len(word), -1
		for end > from {
			text := word[from:end]
			if from > 0 {
				text = m.prefix + text
			}
			if id, ok := m.ids[text]; ok {
				found = id
				break
			}
			_, last := utf8.DecodeLastRuneInString(word[from:end])
			end -= last
		}
		if found < 0 {
			return m.giveUp(), nil
		}
		ids, from = append(ids, found), end
	}
	return ids, nil
}

func (m *wordPiece) giveUp() []int {
	if m.unknown < 0 {
		return nil
	}
	return []int{m.unknown}
}
