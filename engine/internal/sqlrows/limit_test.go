package sqlrows

import (
	"strings"
	"testing"

	"filewise"
)

func TestLimit(t *testing.T) {
	var many, large Limit
	var err error
	n := 0
	for ; err == nil && n <= 2*MostRows; n++ {
		err = many.Row(int64(1))
	}
	if err == nil || n != MostRows+1 || filewise.RemedyOf(err) == "" {
		t.Errorf("after %d rows: %v", n, err)
	}
	text := strings.Repeat("x", 1<<20)
	if err := large.Row(text, []byte(text), &text); err != nil {
		t.Error(err)
	}
	for err, n = nil, 0; err == nil && n < 999; n++ {
		err = large.Row(&text)
	}
	if err == nil || n > MostBytes>>20 {
		t.Errorf("after %d MiB: %v", n, err)
	}
}
