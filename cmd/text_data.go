package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trtui/trtui/internal/host"
	"github.com/trtui/trtui/sessions/dataset"
	"github.com/trtui/trtui/sessions/generate"
	"github.com/trtui/trtui/sessions/model"
	"github.com/trtui/trtui/sessions/tokenizer"
)

// longestText is how many bytes of a text are taken as data: days of work for a language model.
const longestText = 64 << 20

// isText reports whether data is a text for a language model: a .txt file of which nothing says what raw numbers it has.
func (d *dataFlags) isText(path string) bool {
	return strings.EqualFold(filepath.Ext(path), ".txt") && d.elements == "" && len(d.shape) == 0
}

// text opens a text as items of a language model, in the tokens of its tokenizer.
func (d *dataFlags) text(m *model.Model, path, items string, given map[string][]int) (dataset.Data, error) {
	for _, flag := range []string{"size", "mean", "std", "scale", "labels", "label-offset", "dequantize"} {
		if d.changed(flag) {
			return nil, usageError{fmt.Errorf("--%s is for numbers and images, and %s is a text", flag, path)}
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > longestText {
		return nil, fmt.Errorf("data %s: a text of %d MiB, want %d at most: cut it", path, info.Size()>>20, longestText>>20)
	}
	tok, err := openTokenizer(d.tokenizer, m.Path)
	if err != nil {
		return nil, err
	}
	bytes, err := host.ReadUpTo(path, longestText)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	tokens, err := tok.Encode(string(bytes))
	if err != nil {
		return nil, fmt.Errorf("data %s: %w", path, err)
	}
	set, err := generate.Windows(m.Network, d.logits, filepath.Base(path), tokens, given)
	if err != nil {
		return nil, fmt.Errorf("data %s: %w", path, err)
	}
	set.Identity.Path, set.Identity.Size, set.Identity.ModTime = path, info.Size(), info.ModTime()
	data, err := set.Bind(m.Network.Inputs)
	if err != nil || items == "" {
		return data, err
	}
	first, limit, err := dataset.ParseItems(items)
	if err != nil {
		return nil, usageError{fmt.Errorf("--%w", err)}
	}
	return dataset.Subset(data, first, limit)
}

// openTokenizer opens the tokenizer at a path, or else the one beside a model.
func openTokenizer(path, model string) (*tokenizer.Tokenizer, error) {
	if path == "" {
		path = filepath.Dir(model)
		if _, err := os.Stat(filepath.Join(path, "tokenizer.json")); err != nil {
			return nil, usageError{fmt.Errorf("there is no tokenizer.json beside %s; name one by --tokenizer", model)}
		}
	}
	return tokenizer.Open(path)
}
