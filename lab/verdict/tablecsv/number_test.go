package tablecsv_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"filewise/lab/verdict/tablecsv"
)

// trialsOf writes a file of two layouts' numbers, in blocks.
func trialsOf(comma, head string, values ...string) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(head, ",", comma) + "\n")
	for i, v := range values {
		if strings.Contains(v, comma) {
			v = `"` + v + `"`
		}
		b.WriteString(string(rune('1'+i/2)) + comma + string("ab"[i%2]) + comma + v + "\n")
	}
	return b.String()
}

func TestNumbersThatMeanOneThing(t *testing.T) {
	for name, tt := range map[string]struct {
		comma   string
		decimal rune
		values  []string
		line    int // 0: it is read, and the last number is want
		want    float64
	}{
		"thousands of a spreadsheet":      {";", 0, []string{"986", "1.033"}, 3, 0},
		"all look like thousands":         {";", 0, []string{"1.986", "1.033"}, 2, 0},
		"the same with tabs":              {"\t", 0, []string{"1.986", "1.033"}, 2, 0},
		"with commas, beside whole ones":  {",", 0, []string{"986", "1.033"}, 3, 0},
		"with commas, three digits":       {",", 0, []string{"98.612", "1.033"}, 0, 1.033},
		"a fraction shows what points do": {";", 0, []string{"986.25", "1.033"}, 0, 1.033},
		"so does a zero before it":        {"\t", 0, []string{"0.986", "1.033"}, 0, 1.033},
		"and four digits":                 {"\t", 0, []string{"1986.125", "1.033"}, 0, 1.033},
		"thousands with points":           {";", ',', []string{"986", "1.033"}, 0, 1033},
		"fractions with points":           {";", '.', []string{"986", "1.033"}, 0, 1.033},
		"a comma":                         {";", 0, []string{"4026,7", "4026,7"}, 2, 0},
		"a decimal comma":                 {";", ',', []string{"4026,7", "4126,75"}, 0, 4126.75},
		"both":                            {";", 0, []string{"1.234.567,89", "1"}, 2, 0},
		"both, told":                      {";", ',', []string{"1", "1.234.567,89"}, 0, 1234567.89},
		"English thousands":               {";", 0, []string{"986", "1,033"}, 3, 0},
		"English thousands, told":         {",", '.', []string{"986", "1,033.5"}, 0, 1033.5},
		"only groups":                     {";", 0, []string{"1.234.567", "1"}, 2, 0},
		"thousands with spaces":           {";", 0, []string{"986", "1 033.5"}, 0, 1033.5},
		"with narrow ones":                {";", ',', []string{"986", "1\u202f033,5"}, 0, 1033.5},
		"with apostrophes":                {",", 0, []string{"986", "1'033'000"}, 0, 1033000},
		"thousands and a comma":           {";", 0, []string{"986,5", "1 033,5"}, 2, 0},
		"thousands and a comma, narrow":   {";", 0, []string{"1\u202f033,5", "986,5"}, 2, 0},
		"wrong groups":                    {";", 0, []string{"986", "1 03"}, 3, 0},
		"wrong groups, told":              {";", ',', []string{"986", "1.03"}, 3, 0},
		"two kinds of groups":             {";", ',', []string{"986", "1.033 000"}, 3, 0},
		"a unit":                          {";", 0, []string{"986", "1.2 ms"}, 3, 0},
		"an exponent":                     {";", 0, []string{"986", "1.033e3"}, 0, 1033},
		"a missing trial":                 {";", 0, []string{"986", "NA", "", "98.5"}, 0, 98.5},
	} {
		in, err := tablecsv.Options{Decimal: tt.decimal}.Read(strings.NewReader(trialsOf(tt.comma, "block,layout,throughput", tt.values...)))
		if strings.HasPrefix(name, "thousands and a comma") && !strings.Contains(fmt.Sprint(err), "give --decimal ,") {
			t.Errorf("%s: %v", name, err)
		}
		var bad *tablecsv.Error
		switch {
		case tt.line == 0 && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.line > 0 && (!errors.As(err, &bad) || bad.Line != tt.line || bad.Column != 5):
			t.Errorf("%s: %v, want line %d, column 5", name, err, tt.line)
		case tt.line == 0:
			row := in.Table[len(in.Table)-1]
			if got := row[1].Throughput; got != tt.want {
				t.Errorf("%s: %v, want %v", name, got, tt.want)
			}
		}
	}
}

// Times that are a clock are refused, and what can be judged is named.
func TestClocks(t *testing.T) {
	const elapsed = "layout,time,tps\na,10,9\na,20,8\na,30,9\na,40,9\na,50,7\nb,10,9\nb,20,8\nb,30,9\nb,40,9\nb,50,7\n"
	const goesOn = "block,layout,time,nopm\n1,a,300,2\n1,b,600,2\n2,b,900,2\n2,a,1200,2\n3,a,1500,2\n3,b,1800,2\n"
	const name = `rename it to throughput`
	for _, tt := range []struct{ about, text, want string }{
		{"begins again with each layout", elapsed, `"tps" can be judged: ` + name},
		{"goes on", goesOn, `"nopm" can be judged: ` + name},
		{"offset", strings.NewReplacer("a,", "a,100", "b,", "b,300").Replace(elapsed), "grow from line to line"},
		{"epoch", "time,layout,q\n1799000000,a,1\n1799000060,b,1\n1798000120,a,1\n1799000180,b,1\n", "since 1970"},
		{"thousandths", "time,layout\n1799000000000,a\n1799000060123,b\n1799000120000,a\n1799000180000,b\n", "since 1970"},
		{"ISO", "time,layout,tps\n2026-11-27T10:00:00Z,a,5\n2026-11-27T10:00:10Z,b,5\n", `"tps" can be judged`},
		{"time of day", "time,layout,tps,qps\n10:00:00,a,5,5\n10:00:01,b,5,5\n", `"tps", "qps" can be judged: rename one of them`},
		{"in each block", "block,layout,time\n1,a,300\n1,b,600\n2,b,300\n2,a,600\n3,a,300\n3,b,600\n", "begin again in each block"},
		{"called duration", strings.Replace(elapsed, "time", "duration", 1), "–"},
		{"durations", "block,layout,time\n1,a,30.1\n1,b,29\n2,b,29.5\n2,a,31\n3,a,30.2\n3,b,28.9\n4,a,30.3\n4,b,29.1\n", "–"},
		{"of a machine that slows down", "block,layout,time\n1,a,30\n1,b,29\n2,b,30\n2,a,31\n3,a,32\n3,b,31\n4,a,34\n4,b,33\n", "–"},
		{"beside a throughput", strings.Replace(elapsed, "tps", "throughput", 1), "–"},
		{"named elapsed", strings.Replace(elapsed, "time", "elapsed", 1), `"tps" can be judged: ` + name},
	} {
		_, err := read(strings.NewReader(tt.text), "")
		if got := ""; err != nil {
			got = err.Error()
			if tt.want == "–" || !strings.Contains(got, tt.want) {
				t.Errorf("%s: %v", tt.about, err)
			}
		} else if tt.want != "–" {
			t.Errorf("%s: it is read", tt.about)
		}
	}
}

// The cases that came from users.
func TestClocksFromElsewhere(t *testing.T) {
	for _, name := range []string{"elapsed", "elapsed_block", "epoch_time"} {
		text, err := os.ReadFile("testdata/" + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		_, err = read(strings.NewReader(string(text)), "")
		if err == nil || !strings.Contains(err.Error(), "can be judged: rename it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
