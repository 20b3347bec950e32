package tabbed

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"filewise"
)

// table has rows of four columns that write makes.
func table(write func(to filewise.RowWriter) error) filewise.TableData {
	return filewise.TableData{Table: "t", Columns: []string{"a", "b", "c", "d"},
		Write: func(_ int64, to filewise.RowWriter) error { return write(to) }}
}

func TestRows(t *testing.T) {
	rows, err := Of(table(func(to filewise.RowWriter) error {
		to.Int(-7)
		to.Float(1.0 / 3)
		to.Text([]byte("a\tb\nc\\d\x00e\rf'é"))
		to.Null()
		if err := to.EndRow(); err != nil {
			return err
		}
		for range 4 {
			to.Text(nil)
		}
		return to.EndRow()
	}), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Free()
	want := "-7\t0.3333333333333333\ta\\tb\\nc\\\\d\\0e\\rf'é\t\\N\n\t\t\t\n"
	for range 2 { // it can be read again
		if got, err := io.ReadAll(rows.Reader()); err != nil || string(got) != want || rows.Count() != 2 {
			t.Errorf("%q (%v), want %q; %d rows", got, err, want, rows.Count())
		}
	}
}

func TestASCII(t *testing.T) {
	for text, want := range map[string]bool{"": true, "a\x7f": true, "é": false, "a\xffb": false} {
		rows, err := Of(table(func(to filewise.RowWriter) error {
			to.Text([]byte(text))
			to.Text([]byte("b"))
			to.Null()
			to.Int(1)
			return to.EndRow()
		}), 0)
		if err != nil || rows.ASCII() != want {
			t.Errorf("%q: %v, %v", text, rows.ASCII(), err)
		}
		rows.Free()
	}
}

func TestErrors(t *testing.T) {
	if _, err := Of(table(func(to filewise.RowWriter) error {
		to.Int(1)
		return to.EndRow()
	}), 0); err == nil || !strings.Contains(err.Error(), "1 values, expected 4") {
		t.Error(err)
	}
	own := errors.New("own")
	if _, err := Of(table(func(filewise.RowWriter) error { return own }), 0); !errors.Is(err, own) {
		t.Error(err)
	}
}

func TestAllocations(t *testing.T) {
	text := bytes.Repeat([]byte("x"), 1000)
	r := Rows{columns: 4}
	row := func() {
		for range 4 {
			r.Text(text)
		}
		if err := r.EndRow(); err != nil {
			t.Fatal(err)
		}
		r.buf = r.buf[:0]
	}
	row()
	if n := testing.AllocsPerRun(1000, row); n > 0 {
		t.Errorf("%v allocations for a row", n)
	}
}
