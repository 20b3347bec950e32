package capturing

import (
	"io"
	"strings"
	"testing"

	"filewise"
)

// endless is a text that goes on with a byte for longer than any statement may be.
func endless(text string) io.Reader {
	return io.MultiReader(strings.NewReader(text), strings.NewReader(strings.Repeat("1", 70<<20)), strings.NewReader("\"\n"))
}

// A statement without end is refused before it is in memory; lines that are being written are not.
func TestBombInALog(t *testing.T) {
	const line = `{"dbname":"shop","session_id":"1","message":"statement: SELECT `
	const row = `t,u,shop,1,l,5f.1,1,SELECT,t,1/1,0,LOG,0,"statement: SELECT `
	for _, text := range []string{line, row} {
		err := ReadLog(endless(text), "shop", nil)
		if filewise.CodeOf(err) != filewise.CodeUsage || !strings.Contains(err.Error(), "longer than") ||
			strings.Contains(err.Error(), "no csvlog") {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	n := 0
	if err := ReadLog(strings.NewReader(line+"1\"}\n\n"+line), "shop", func(filewise.LoggedStatement) { n++ }); err != nil || n != 1 {
		t.Errorf("%d statements, %v", n, err)
	}
}
