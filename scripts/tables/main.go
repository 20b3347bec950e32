// Command tables packs the character sets in a copy of go-ora: tables GO-ORA/converters. As the driver has them they
// are 13 MB of a binary, all referred to by one switch; packed they are read when a session needs one.
package main

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"github.com/sijms/go-ora/v2/converters"
)

const (
	// replaced is the file of go-ora 2.9.0 that holds the tables and nothing else.
	replaced = "string_conversion_new.go"
	// identifiers of Oracle's character sets take two bytes on the wire.
	identifiers = 1 << 16
	reader      = `package converters

import (
	"compress/gzip"
	"embed"
	"encoding/json"
	"strconv"
)

//go:embed tables
var tables embed.FS

func NewStringConverter(langID int) IStringConverter {
	file, err := tables.Open("tables/" + strconv.Itoa(langID))
	if err != nil {
		return nil
	}
	var t struct {
		LangID, CharWidth, EReplace, DReplace int
		DBuffer, DBuffer2                     list
		EBuffer, Leading                      [2]list
	}
	unpacked, err := gzip.NewReader(file)
	if err == nil {
		err = json.NewDecoder(unpacked).Decode(&t)
	}
	if err != nil {
		panic(err) // of a file that the linker put there
	}
	return &StringConverter{LangID: t.LangID, CharWidth: t.CharWidth, eReplace: t.EReplace, dReplace: t.DReplace,
		dBuffer: t.DBuffer.whole(), dBuffer2: t.DBuffer2.whole(), eBuffer: table(t.EBuffer), leading: table(t.Leading)}
}

type list []int

func (l list) whole() []int {
	for i := 1; i < len(l); i++ {
		l[i] += l[i-1]
	}
	return l
}

func table(of [2]list) map[int]int {
	keys, values := of[0].whole(), of[1].whole()
	m := make(map[int]int, len(keys))
	for i, key := range keys {
		m[key] = values[i]
	}
	return m
}
`
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "tables: name the directory of go-ora's package converters, in a copy of it")
		os.Exit(2)
	}
	if err := pack(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "tables:", err)
		os.Exit(1)
	}
}

func pack(dir string) error {
	if err := os.Remove(filepath.Join(dir, replaced)); err != nil {
		return fmt.Errorf("is that go-ora's package converters? %w", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "tables"), 0o755); err != nil {
		return err
	}
	for id := range identifiers {
		converter := converters.NewStringConverter(id)
		if converter == nil {
			continue
		}
		if err := write(filepath.Join(dir, "tables", strconv.Itoa(id)), fields(converter)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, replaced), []byte(reader), 0o644)
}

// fields are the converter's, which the driver does not export, by name.
func fields(converter converters.IStringConverter) map[string]any {
	of := reflect.ValueOf(converter).Elem()
	values := make(map[string]any, of.NumField())
	for i := range of.NumField() {
		values[of.Type().Field(i).Name] = plain(of.Field(i))
	}
	return values
}

// plain is a field as it is packed: lists as the steps between their numbers, a third as large, and tables as the lists of
// their keys and values.
func plain(field reflect.Value) any {
	switch field.Kind() {
	case reflect.Slice:
		list := make([]int64, field.Len())
		for i := range list {
			list[i] = field.Index(i).Int()
		}
		return steps(list)
	case reflect.Map:
		table := make(map[int64]int64, field.Len())
		for at := field.MapRange(); at.Next(); {
			table[at.Key().Int()] = at.Value().Int()
		}
		keys := slices.Sorted(maps.Keys(table))
		values := make([]int64, len(keys))
		for i, key := range keys {
			values[i] = table[key]
		}
		return [][]int64{steps(keys), steps(values)}
	default:
		return field.Int()
	}
}

// steps replaces all but the first number by the distance from the one before.
func steps(list []int64) []int64 {
	for i := len(list) - 1; i > 0; i-- {
		list[i] -= list[i-1]
	}
	return list
}

func write(name string, values map[string]any) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err == nil {
		err = json.NewEncoder(packed).Encode(values)
	}
	if err == nil {
		err = packed.Close()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
