package tablecsv_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"filewise/lab/verdict"
	"filewise/lab/verdict/tablecsv"
)

const good = "block,layout,throughput\n1,1 file,100\n1,8 files,106\n2,8 files,107\n2,1 file,101\n"

func read(r io.Reader, operation string) (tablecsv.Input, error) {
	return tablecsv.Options{Operation: operation}.Read(r)
}

func TestRead(t *testing.T) {
	for name, text := range map[string]string{
		"plain":           good,
		"no last newline": strings.TrimSuffix(good, "\n"),
		"CRLF":            strings.ReplaceAll(good, "\n", "\r\n"),
		"BOM":             "\ufeff" + good,
		"BOM and CRLF":    "\ufeff" + strings.ReplaceAll(good, "\n", "\r\n"),
		"semicolons":      strings.ReplaceAll(good, ",", ";"),
		"tabs":            strings.ReplaceAll(good, ",", "\t"),
		"quoted":          "\"block\",\"layout\",\"throughput\"\n\"1\",\"1 file\",\"100\"\n1,\"8 files\",106\n2,8 files,107\n2,1 file,101\n",
		"other order":     "throughput, Layout ,BLOCK\n100,1 file,1\n106,8 files,1\n107,8 files,2\n101,1 file,2\n",
		"blocks reversed": "block,layout,throughput\n2,1 file,101\n2,8 files,107\n1,1 file,100\n1,8 files,106\n",
		"empty lines":     strings.ReplaceAll(good, "\n", "\n\n"),
	} {
		in, err := read(strings.NewReader(text), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := verdict.Table{{{Throughput: 100, OK: true}, {Throughput: 106, OK: true}},
			{{Throughput: 101, OK: true}, {Throughput: 107, OK: true}}}
		if !slices.Equal(in.Layouts, []string{"1 file", "8 files"}) || len(in.Table) != 2 ||
			!slices.Equal(in.Table[0], want[0]) || !slices.Equal(in.Table[1], want[1]) || len(in.Notes) > 0 {
			t.Errorf("%s: %+v", name, in)
		}
	}
}

// A name that an export has kept from being a formula is read as it was.
func TestFormulas(t *testing.T) {
	in, err := read(strings.NewReader("block,layout,throughput\n1,'=1+1,2\n1,''@x,3\n1,'quoted,4\n"), "")
	if err != nil || !slices.Equal(in.Layouts, []string{"=1+1", "'@x", "'quoted"}) {
		t.Errorf("%q, %v", in.Layouts, err)
	}
}

func TestMissingAndFurtherColumns(t *testing.T) {
	in, err := read(strings.NewReader("run,block,layout,throughput,instance,calibration,pilot\n"+
		"3,0,a,50,,,true\n3,x,a,100,a #1,9.5,false\n3,x,b,,,,false\n3,y,a,NA,,,\n3,y,b,90,b #2,9.1,\n3,x,b,88,b #1,9,\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := in.Table[0][0]; got != (verdict.Cell{Throughput: 100, Build: "a #1", Calibration: 9.5, OK: true}) {
		t.Errorf("first cell %+v", got)
	}
	if in.Table[1][0].OK || !in.Table[1][1].OK || in.Table[0][1].Throughput != 88 {
		t.Errorf("missing trials, or one that was repeated: %+v", in.Table)
	}
	if !slices.Equal(in.Blocks, []string{"x", "y"}) || len(in.Notes) != 2 ||
		!strings.Contains(in.Notes[0], `"run"`) || in.Notes[1] != "Pilots left out: 1." {
		t.Errorf("blocks %q, notes %q", in.Blocks, in.Notes)
	}
}

// A calibrated run that Filewise exported has its probes in separate lines.
func TestProbesInLinesOfTheirOwn(t *testing.T) {
	in,
		err := read(strings.NewReader("block,layout,family,throughput\n"+
		"1,a,inserts,100\n1,a,calibration,9\n1,b,calibration,8\n1,b,inserts,90\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	want := []verdict.Cell{{Throughput: 100, Calibration: 9, OK: true}, {Throughput: 90, Calibration: 8, OK: true}}
	if len(in.Table) != 1 || !slices.Equal(in.Table[0], want) {
		t.Errorf("%+v", in.Table)
	}
}

// A file's design is taken: layouts in the order of the plan, trials that the verdict does not use left out, and of
// several operations the chosen one.
func TestDesignInTheFile(t *testing.T) {
	text := "block,layout,family,throughput,judged,order,layout_number,rank,twin,baseline,max_blocks,margin_percent,confidence,goal,rules\n" +
		"0,c,,,false,,3,9,a,a,20,2,0.95,verdicts,2\n" +
		"1,b,q1,90,true,1,2,8,,a,12,3,0.98,verdicts,1\n1,a,q1,100,true,2,1,4,,a,12,3,0.98,verdicts,1\n" +
		"1,b,q2,7,true,1,2,8,,a,12,3,0.95,verdicts,1\n2,a,q1,100,false,2,1,4,,a,12,3,0.98,verdicts,1\n"
	in, err := read(strings.NewReader(text), "q1")
	if err != nil {
		t.Fatal(err)
	}
	want := tablecsv.Design{Baseline: "a", MaxBlocks: 12, Margin: 3, Confidence: 0.98, Goal: verdict.GoalVerdicts, Rules: 1}
	arms := []verdict.Arm{{Name: "a", Rank: 4}, {Name: "b", Rank: 8}, {Name: "c", Rank: 9, Twin: "a"}}
	row := []verdict.Cell{{Throughput: 100, Order: 2, OK: true}, {Throughput: 90, Order: 1, OK: true}, {}}
	if in.Design != want || !slices.Equal(in.Arms(), arms) || len(in.Table) != 1 || !slices.Equal(in.Table[0], row) {
		t.Errorf("%+v, %+v", in, in.Arms())
	}
	for _, bad := range []string{strings.Replace(text, "12,3,0.98", "13,3,0.98", 1), strings.Replace(text, "2,8", "3,8", 1),
		strings.Replace(text, "12,3", "x,3", 1)} {
		if _, err := read(strings.NewReader(bad), "q1"); err == nil {
			t.Errorf("read: %s", bad)
		}
	}
	all, err := tablecsv.Options{}.ReadAll(strings.NewReader(text))
	if err != nil || len(all) != 2 || !slices.Equal(all[0].Table[0], row) || all[1].Operation != "q2" || all[1].Design.Confidence != 0.95 {
		t.Errorf("all operations: %+v, %v", all, err)
	}
	if _, err := read(strings.NewReader(text), "q3"); err == nil || !strings.Contains(err.Error(), `it has "q1", "q2"`) {
		t.Errorf("an operation that is not in it: %v", err)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for _, tt := range []struct {
		text         string
		line, column int
		what         string
	}{
		{"", 0, 0, "it is empty"},
		{"block,layout,throughput\n", 0, 0, "no trials"},
		{"block,layout,tps\n1,a,5\n", 1, 1, `no column "throughput"`},
		{"block,layout,throughput,Block\n", 1, 25, `a second column "Block"`},
		{"block,layout,throughput\n1,a,5\n1,b,x5\n", 3, 5, `throughput "x5" is not a number`},
		{"block,layout,throughput\n1,a,NaN\n", 2, 5, "throughput NaN is not a positive number"},
		{"block,layout,throughput\n1,a,Inf\n", 2, 5, "throughput Inf is not a positive number"},
		{"block,layout,throughput\n1,a,0\n", 2, 5, "throughput 0 is not a positive number"},
		{"block,layout,throughput\n1,a,-3\n", 2, 5, "throughput -3 is not a positive number"},
		{"block,layout,throughput\n1,a,1e999\n", 2, 5, "too large"},
		{"block,layout,throughput\n1,a,1e200\n", 2, 5, "too large"},
		{"block,layout,throughput\n1,a,1e-200\n", 2, 5, "too large or too small"},
		{"block,layout,throughput\n1,a,\"1,5\"\n", 2, 5, "is not a number"},
		{"block,layout,throughput\n1,a,5\n1,a,6\n", 3, 3, "first in line 2"},
		{"block,layout,throughput\n1,a\n", 2, 1, "another number of fields"},
		{"block,layout,throughput\n1,\"a,5\n", 2, 0, "quotation mark"},
		{"block,layout,throughput\n,a,5\n", 2, 1, "the block is empty"},
		{"block,layout,throughput\n1, ,5\n", 2, 3, "the layout is empty"},
		{"block,layout,throughput\n1,a,5\n2,a,6\n", 0, 0, "only one layout"},
		{"block,layout,throughput\n1," + strings.Repeat("n", 300) + ",5\n", 2, 3, "longer than"},
	} {
		_, err := read(strings.NewReader(tt.text), "")
		var bad *tablecsv.Error
		if !errors.As(err, &bad) {
			t.Errorf("%.40q: %v", tt.text, err)
			continue
		}
		if bad.Line != tt.line || tt.column > 0 && bad.Column != tt.column || !strings.Contains(bad.What, tt.what) {
			t.Errorf("%.40q: %v; want line %d, column %d, %q", tt.text, bad, tt.line, tt.column, tt.what)
		}
	}
}

// The p99 of trials that count is read, and whether it is of enough operations.
func TestP99(t *testing.T) {
	const head = "block,layout,throughput,p99_s"
	for text, want := range map[string][]float64{
		head + ",operations\n1,a,9,0.5,100\n1,b,9,0.25,99\n2,a,,2,500\n2,b,9,0.125,3000000000\n": {2, -4, 0, 8},
		head + "\n1,a,9,0.5\n1,b,9,\n":                                 {2, 0},
		"block,layout,throughput,operations\n1,a,9,some\n1,b,9,0.25\n": nil,
		head + ",operations\n1,a,9,0.5,\n1,b,9,0.25,100\n":             {-2, 4},
	} {
		in, err := read(strings.NewReader(text), "")
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, row := range in.P99 {
			for _, c := range row {
				if !c.OK {
					c.Throughput *= -1 // of too few operations
				}
				got = append(got, c.Throughput)
			}
		}
		if !slices.Equal(got, want) || (want == nil) != strings.Contains(strings.Join(in.Notes, ""), `not used: "operations"`) {
			t.Errorf("%s: %v, want %v; %q", text, got, want, in.Notes)
		}
	}
	if _, err := read(strings.NewReader(head+"\n1,a,9,0.5\n1,b,9,-3\n"), ""); err == nil || !strings.Contains(err.Error(), "p99_s") {
		t.Errorf("a negative time: %v", err)
	}
}

func TestTooMuch(t *testing.T) {
	var b strings.Builder
	b.WriteString("block,layout,throughput\n")
	for range 600 {
		b.WriteString(strings.Repeat("9", b.Len()%150+1) + ",a,5\n")
	}
	if _, err := read(strings.NewReader(b.String()), ""); err == nil {
		t.Error("more blocks than can be judged, or one twice, is accepted")
	}
}

type broken struct{}

var errBroken = errors.New("the disk is gone")

func (broken) Read([]byte) (int, error) { return 0, errBroken }

func TestBrokenReader(t *testing.T) {
	if _, err := read(broken{}, ""); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

// Whatever is read, it is refused with a reason or can be judged.
func FuzzRead(f *testing.F) {
	f.Add(good)
	f.Add("\ufeffblock;layout;throughput\r\n1;a;\r\n1;b;2\r\n2;a;NA\r\n")
	f.Add("block,layout,throughput,instance,calibration,pilot,family\n1,a,1,x,1,true,q\n1,\"b\n\",1e99,x,NaN,0,q\n")
	f.Fuzz(func(t *testing.T, text string) {
		in, err := read(strings.NewReader(text), "")
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a word")
			}
			return
		}
		if len(in.Layouts) > 6 || len(in.Table) > 8 {
			return // judging would simulate boundaries for minutes
		}
		arms := make([]verdict.Arm, len(in.Layouts))
		for i, name := range in.Layouts {
			arms[i] = verdict.Arm{Name: name, Rank: i}
		}
		if _, err := verdict.Judge(verdict.DefaultConfig(), arms, in.Table); err != nil {
			t.Errorf("read without an error, judged with one: %v", err)
		}
	})
}

// A file without an end is given up, not kept, and so is a line without one.
func TestTooLarge(t *testing.T) {
	pilot := "a,1,true," + strings.Repeat("x", 1<<19) + "\n"
	endless := "layout,throughput,pilot,note\n" + strings.Repeat(pilot, 130)
	many := strings.Repeat(",", 2<<20) // fields, each of which takes memory
	for text, want := range map[string]string{endless: "larger than 64 MiB", many: "longer than 1024 KiB",
		good + many: "longer than 1024 KiB", good + "1,\"" + many: "longer than 1024 KiB"} {
		if _, err := read(strings.NewReader(text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q…: %v", text, err)
		}
	}
}
