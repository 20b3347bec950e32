package store

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"filewise"
)

// ExportCSV writes a TrialRow for each trial and family, by RFC 4180 (lines end in
// CRLF).
func ExportCSV(w io.Writer, run Run, trials []filewise.Trial) error {
	return writeCSV(w, func(add func(TrialRow) error) error { return trialRows(run, trials, add) })
}

// ExportCSVCounters writes the counters of all trials as ExportCSV does trials.
func ExportCSVCounters(w io.Writer, run Run, trials []filewise.Trial) error {
	return writeCSV(w, func(add func(CounterRow) error) error { return counterRows(run, trials, add) })
}

// writeCSV writes rows under the names of their columns in Parquet. Moments are RFC 3339
// in UTC. An empty field is an absent value, never zero.
func writeCSV[T any](w io.Writer, rows func(add func(T) error) error) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	columns := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[T]()), func(f reflect.StructField) bool { return f.Anonymous })
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i], _, _ = strings.Cut(c.Tag.Get("parquet"), ",")
	}
	err := out.Write(line)
	if err == nil {
		err = rows(func(row T) error {
			for i, c := range columns {
				line[i] = csvText(reflect.ValueOf(row).FieldByIndex(c.Index))
			}
			return out.Write(line)
		})
	}
	out.Flush()
	return errors.Join(err, out.Error())
}

func csvText(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case float64:
		return number(x)
	case time.Time:
		return x.Format(time.RFC3339Nano)
	}
	if v.Kind() == reflect.String {
		return unformulated(v.String())
	}
	return fmt.Sprint(v)
}

// unformulated is a text that no spreadsheet takes for a formula: before what begins one
// stands an apostrophe, which judge takes away again.
func unformulated(text string) string {
	if bare := strings.TrimLeft(text, "'"); bare != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(bare)[0]) {
		return "'" + text
	}
	return text
}

// number is the shortest text that reads back as x; empty for what is no number.
func number(x float64) string {
	if finite(x) == nil {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}
