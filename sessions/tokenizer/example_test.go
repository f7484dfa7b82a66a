package tokenizer_test

import (
	"fmt"
	"log"

	"github.com/trtui/trtui/sessions/tokenizer"
)

// Text becomes the numbers that a language model reads, and numbers become text.
func Example() {
	t, err := tokenizer.Open("testdata/gpt2.json")
	if err != nil {
		log.Fatal(err)
	}
	ids, err := t.Encode("Once upon a time")
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range ids {
		fmt.Printf("%d %q\n", id, t.Token(id))
	}
	fmt.Println(t.Decode(ids))
	// Output:
	// 47 "O"
	// 78 "n"
	// 356 "ce"
	// 221 "Ġ"
	// 85 "u"
	// 80 "p"
	// 261 "on"
	// 283 "Ġa"
	// 320 "Ġtim"
	// 69 "e"
	// Once upon a time
}
