package archive_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"filewise/results/archive"
	"filewise/results/report"
	"filewise/results/store"
)

// extremes are numbers that readers convert, negate, add up or divide by.
var extremes = []string{"9223372036854775807", "-9223372036854775808", "31622400000000000", "1e21"}

// number is the place of a run's number in its text.
type number struct {
	field    string
	from, to int
}

// numbersOf are the run's numbers, the first of each field.
func numbersOf(t *testing.T, text []byte) (out []number) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var path []string
	var isKey []bool // of the levels: an object whose next token is a key
	seen := map[string]bool{}
	value := func() {
		if n := len(isKey); n > 0 && len(path) == n {
			isKey[n-1] = path[n-1] != "[]"
		}
	}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out
		}
		must(t, err)
		switch v := token.(type) {
		case json.Delim:
			switch v {
			case '{':
				path, isKey = append(path, ""), append(isKey, true)
			case '[':
				path, isKey = append(path, "[]"), append(isKey, false)
			default:
				path, isKey = path[:len(path)-1], isKey[:len(isKey)-1]
				value()
			}
		case string:
			if n := len(isKey); n > 0 && isKey[n-1] {
				path[n-1], isKey[n-1] = v, false
				continue
			}
			value()
		default:
			if v, is := v.(json.Number); is && !seen[strings.Join(path, ".")] {
				seen[strings.Join(path, ".")] = true
				end := int(d.InputOffset())
				out = append(out, number{strings.Join(path, "."), end - len(v), end})
			}
			value()
		}
	}
}

// Every number of a run may be any: the bundle is refused, or judged and shown, in a moment.
func TestEveryNumber(t *testing.T) {
	manifest := store.Manifest{Version: "v9"}
	var shown, refused int
	for _, r := range storedRuns(t)[:1] {
		for _, n := range numbersOf(t, r.text) {
			for _, x := range extremes {
				began := time.Now()
				text := bytes.Join([][]byte{r.text[:n.from], []byte(x), r.text[n.to:]}, nil)
				run, trials, err := store.ParseRun(text, manifest)
				if err != nil {
					refused++
					continue
				}
				data, err := archive.Run{Run: run, Trials: trials}.Data()
				if err != nil {
					continue
				}
				shown++
				var out strings.Builder
				must(t, report.HTML(io.Discard, data))
				must(t, report.Terminal(&out, data, report.TerminalOptions{Width: 80}))
				if took := time.Since(began); took > 5*time.Second || strings.Contains(out.String(), "NaN") {
					t.Errorf("%s = %s: %v", n.field, x, took)
				}
			}
		}
	}
	if shown < 20 || refused < 50 {
		t.Errorf("%d were shown, %d refused", shown, refused)
	}
}
