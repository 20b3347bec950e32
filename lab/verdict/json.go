package verdict

import (
	"encoding/json"
	"math"
	"reflect"
)

// MarshalJSON writes numbers that are not finite as null.
func (e Estimate) MarshalJSON() ([]byte, error) { return marshal(e) }

// UnmarshalJSON reads null and absent numbers as NaN.
func (e *Estimate) UnmarshalJSON(data []byte) error { return unmarshal(data, e) }

// MarshalJSON writes numbers that are not finite as null.
func (l Analysis) MarshalJSON() ([]byte, error) { return marshal(l) }

// UnmarshalJSON reads null and absent numbers as NaN.
func (l *Analysis) UnmarshalJSON(data []byte) error { return unmarshal(data, l) }

// nullable returns a struct type like the given one, except that its numbers are pointers and follow the other fields.
func nullable(of reflect.Type) reflect.Type {
	var fields, numbers []reflect.StructField
	for _, f := range reflect.VisibleFields(of) {
		if f.Type.Kind() != reflect.Float64 {
			fields = append(fields, f)
			continue
		}
		f.Type = reflect.PointerTo(f.Type)
		numbers = append(numbers, f)
	}
	return reflect.StructOf(append(fields, numbers...))
}

func marshal(v any) ([]byte, error) {
	from := reflect.ValueOf(v)
	to := reflect.New(nullable(from.Type())).Elem()
	for i := range to.NumField() {
		value := from.FieldByName(to.Type().Field(i).Name)
		if to.Field(i).Type() == value.Type() {
			to.Field(i).Set(value)
		} else if x := value.Float(); finite(x) {
			to.Field(i).Set(reflect.ValueOf(&x))
		}
	}
	return json.Marshal(to.Interface())
}

func unmarshal(data []byte, into any) error {
	to := reflect.ValueOf(into).Elem()
	from := reflect.New(nullable(to.Type())).Elem()
	if err := json.Unmarshal(data, from.Addr().Interface()); err != nil {
		return err
	}
	for i := range from.NumField() {
		value, field := from.Field(i), to.FieldByName(from.Type().Field(i).Name)
		switch {
		case value.Type() == field.Type():
			field.Set(value)
		case value.IsNil():
			field.SetFloat(math.NaN())
		default:
			field.Set(value.Elem())
		}
	}
	return nil
}
