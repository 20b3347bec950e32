package store

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// The most that any number in a bundle may be, positive or negative. So sums over a whole bundle stay finite.
const (
	mostTime  = 366 * 24 * time.Hour
	mostCount = int64(1) << 53 // JSON's numbers are exact up to this: 8 PiB, in bytes
	mostSum   = 1e21           // above anything that 64 bits can count
)

// anyInteger lists the fields that hold names, not amounts: of a seed, of a process.
var anyInteger = []string{"Seed", "Start"}

var (
	durationType = reflect.TypeFor[time.Duration]()
	timeType     = reflect.TypeFor[time.Time]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

// inBounds searches v at any depth, and reports the first number that no measurement or option can have given. The
// error names the field.
func inBounds(v reflect.Value, name string) error {
	if !v.IsValid() || v.Type() == timeType || v.Type() == rawType {
		return nil
	}
	tooMuch := func(x any) error { return fmt.Errorf("%s is %v", cut(name), x) }
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		most := mostCount
		if v.Type() == durationType {
			most = int64(mostTime)
		}
		if n := v.Int(); n < -most || n > most {
			return tooMuch(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := v.Uint(); n > uint64(mostCount) {
			return tooMuch(n)
		}
	case reflect.Float32, reflect.Float64:
		if x := v.Float(); math.Abs(x) > mostSum { // NaN stands for absent
			return tooMuch(x)
		}
	case reflect.Pointer, reflect.Interface:
		return inBounds(v.Elem(), name)
	case reflect.Slice, reflect.Array:
		return elementsInBounds(v, name)
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			if err := inBounds(each.Value(), name); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return fieldsInBounds(v, name)
	}
	return nil
}

func elementsInBounds(v reflect.Value, name string) error {
	switch v.Type().Elem().Kind() {
	case reflect.String, reflect.Uint8, reflect.Bool:
		return nil // there are many, and none holds a number
	}
	for i := range v.Len() {
		if err := inBounds(v.Index(i), name); err != nil {
			return err
		}
	}
	return nil
}

func fieldsInBounds(v reflect.Value, name string) error {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if len(f.Index) > 1 || !f.IsExported() || slices.Contains(anyInteger, f.Name) {
			continue
		}
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "" || tag == "-" {
			tag = f.Name
		}
		if err := inBounds(v.FieldByIndex(f.Index), strings.TrimPrefix(name+"."+tag, ".")); err != nil {
			return err
		}
	}
	return nil
}
